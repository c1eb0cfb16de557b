//! Small objects as Go's own serializer wrote them, and the JSON that Go makes of each.

/// The protobuf in hexadecimal, and the JSON.
pub(super) const GOLDEN: [(&str, &str); 8] = [
    (
        "6b3873000a0f0a02763112094e616d657370616365121a0a120a026b7712001a0022002a0032003800420012001a020a\
         001a002200",
        r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kw"},"spec":{},"status":{}}"#,
    ),
    (
        "6b3873000a0f0a0276311209436f6e6669674d617012450a190a016312001a0022002a0032003800420808a5ebdcca06\
         100012060a016112016212090a05656d70747912001a080a046e6f6e6512001a090a03726177120200ff20001a002200",
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","creationTimestamp":"2026-01-02T03:04:05Z"},"immutable":false,"data":{"a":"b","empty":""},"binaryData":{"none":"","raw":"AP8="}}"#,
    ),
    (
        "6b3873000a0c0a0276311206536563726574121d0a110a017312001a0022002a0032003800420012060a016b1201761a\
         001a002200",
        r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"k":"dg=="}}"#,
    ),
    (
        "6b3873000a0d0a02763112075365727669636512600a130a0377656212001a0022002a0032003800420012450a110a00\
         120018502207080010903f1a0028000a140a0012001851220a080110001a04687474702800120a0a0361707012037765\
         621a0022003a00420052005a00600068001a020a001a002200",
        r#"{"kind":"Service","apiVersion":"v1","metadata":{"name":"web"},"spec":{"ports":[{"port":80,"targetPort":8080},{"port":81,"targetPort":"http"}],"selector":{"app":"web"}},"status":{"loadBalancer":{}}}"#,
    ),
    (
        "6b3873000a150a07617070732f7631120a4465706c6f796d656e741295010a110a016412001a0022002a003200380042\
         00127208001a660a100a0012001a0022002a0032003800420012520a090a0176120412020a0012290a01631201692a00\
         420f0a0d0a0363707512060a043530306d6a007200800100880100900100a201001a00320042004a0052005800600068\
         008201008a01009a0100c2010022020a00280038001a0c0800100018002000280038001a002200",
        r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"500m"}}}]}},"strategy":{}},"status":{}}"#,
    ),
    (
        "6b3873000a190a106576656e74732e6b38732e696f2f763112054576656e7412470a110a016512001a0022002a003200\
         38004200120908a5ebdcca0610f02e22002a0032003a0152420e0a0012001a0022002a0032003a0052005a0062040a00\
         12006a00720078001a002200",
        r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"eventTime":"2026-01-02T03:04:05.000006Z","reason":"R","regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}"#,
    ),
    (
        "6b3873000a150a09706f6c6963792f763112084576696374696f6e121e0a110a017012001a0022002a00320038004200\
         1209080012050a03752d311a002200",
        r#"{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0,"preconditions":{"uid":"u-1"}}}"#,
    ),
    (
        "6b3873000a180a07617070732f7631120d44656c6574654f7074696f6e73120e1800220a466f726567726f756e641a00\
         2200",
        r#"{"kind":"DeleteOptions","apiVersion":"apps/v1","orphanDependents":false,"propagationPolicy":"Foreground"}"#,
    ),
];

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
