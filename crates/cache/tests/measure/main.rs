#[path = "../informer/script.rs"]
#[allow(dead_code)]
mod script;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_cache::*;
use std::sync::Arc;
use std::sync::atomic::*;
use std::time::*;

fn mem(what: &str) {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    let g = |k: &str| s.lines().find(|l| l.starts_with(k)).unwrap().split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024;
    println!("{what}: rss {} MB, peak {} MB", g("VmRSS"), g("VmHWM"));
}
fn obj(n: usize, v: u64) -> String {
    format!(r#"{{"metadata":{{"name":"o{n}","namespace":"n{}","uid":"uid-{n}","resourceVersion":"{v}","labels":{{"app":"a{}"}},"managedFields":[{{"manager":"m","x":"{}"}}]}},"data":{{"k":"{}"}}}}"#, n % 50, n % 1000, "f".repeat(1000), "d".repeat(2500))
}
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn huge() {
    const N: usize = 1000;
    let (mut server, client) = script::Server::new();
    let factory = SharedInformerFactory::new(&client);
    let i = factory.informer::<ConfigMap>();
    i.add_index("app", |o| o.label("app").map(|s| s.to_string())).unwrap();
    let c = Arc::new(AtomicU64::new(0));
    let cc = c.clone();
    let h = i.add_handler(move |_| { cc.fetch_add(1, Ordering::Relaxed); }).unwrap();
    factory.start();
    for round in 0..3 {
        let list = server.list().await;
        mem("before");
        let t = Instant::now();
        let s = list.stream();
        s.send(r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":["#);
        let mut buf = String::new();
        for n in 0..N {
            if n > 0 { buf.push(','); }
            buf += &obj(n, if round == 2 { 7 } else { 5 });
            if buf.len() > 65536 { s.send(&buf); buf.clear(); 
              if n % 500 < 20 { tokio::task::yield_now().await; } }
        }
        buf += "]}";
        s.send(&buf);
        drop(s);
        let made = t.elapsed();
        let w = server.watch().await;
        while i.status().reflector.lists != round + 1 || i.store_len() != N as u64 { tokio::time::sleep(Duration::from_millis(2)).await }
        h.synced().await.unwrap();
        while h.status().pending > 0 || (round == 2 && c.load(Ordering::Relaxed) < 2 * N as u64) { tokio::time::sleep(Duration::from_millis(2)).await }
        println!("round {round}: made {made:?} all {:?} handled {}", t.elapsed(), c.load(Ordering::Relaxed));
        mem("after");
        if round == 2 {
            let s = w.stream();
            // rate of handler hand-over
            for (label, gap) in [("one by one", true), ("burst", false)] {
            let before = c.load(Ordering::Relaxed);
            let cpu = cpu();
            let t = Instant::now();
            for v in 0..20000u64 { s.event("MODIFIED", &obj(3, if gap {1000} else {100000} + v)); if gap { while c.load(Ordering::Relaxed) <= before + v { tokio::task::yield_now().await } } }
            while i.status().resource_version.parse::<u64>().unwrap() < if gap {20999} else {119999} { tokio::time::sleep(Duration::from_millis(1)).await }
            println!("{label}: {:?} an event, cpu {:?}, handled {}", t.elapsed() / 20000, (self::cpu() - cpu) / 20000, c.load(Ordering::Relaxed) - before);
            }
            return;
        }
        w.status(500, "InternalError");
    }
}
fn cpu() -> Duration {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    Duration::from_millis((f[11].parse::<u64>().unwrap() + f[12].parse::<u64>().unwrap()) * 10)
}
trait L { fn store_len(&self) -> u64; }
impl L for SharedInformer<ConfigMap> { fn store_len(&self) -> u64 { self.status().objects as u64 } }
