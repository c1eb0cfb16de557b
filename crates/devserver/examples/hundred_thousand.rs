//! Creates 100,000 config maps in process and lists them, whole and by pages of 500, with the times it takes.
//!
//! `cargo run --release -p kubewright-devserver --example hundred_thousand`

use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use kubewright_devserver::{DevServer, DevService};
use serde_json::Value;
use tower_service::Service;

const COUNT: usize = 100_000;
const PATH: &str = "/api/v1/namespaces/default/configmaps";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let server = DevServer::new();
    let mut service = server.service();

    let start = Instant::now();
    for index in 0..COUNT {
        let body = format!(
            "{{\"metadata\":{{\"name\":\"item-{index:06}\",\"labels\":{{\"app\":\"web\"}}}},\"data\":{{\"key\":\"value-{index}\"}}}}"
        );
        send(&mut service, Request::post(PATH).body(Full::from(body))?).await?;
    }
    let taken = start.elapsed();
    println!("created {COUNT} in {:.2?}, {:.1?} each", taken, taken / u32::try_from(COUNT)?);

    let start = Instant::now();
    let bytes = send(&mut service, Request::get(PATH).body(Full::default())?).await?;
    println!("listed them whole ({:.1} MB) in {:.2?}", bytes.len() as f64 / 1e6, start.elapsed());

    let start = Instant::now();
    let (mut pages, mut items, mut token) = (0, 0, String::new());
    loop {
        let path = format!("{PATH}?limit=500&continue={token}");
        let page: Value = serde_json::from_slice(
            &send(&mut service, Request::get(path).body(Full::default())?).await?,
        )?;
        pages += 1;
        items += page["items"].as_array().map_or(0, Vec::len);
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    println!("listed and decoded {items} by {pages} pages of 500 in {:.2?}", start.elapsed());
    Ok(())
}

async fn send(service: &mut DevService, request: Request<Full<Bytes>>) -> Outcome<Bytes> {
    let answer = service.call(request).await?;
    let code = answer.status();
    let bytes = answer.into_body().collect().await?.to_bytes();
    if code.is_success() { Ok(bytes) } else { Err(format!("{code}: {bytes:?}").into()) }
}
