//! Worst cases of JSON-LD: SPXI indexes and packets.

use crate::shape::{Case, halves, nest, repeat};

const LD: &str = r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#","mp":"https://metadatapacket.org/vocabulary#"},"@type":"spxi:SemanticIndex","@id":"https://a.example/spxi-index.jsonld","dateModified":"2026-05-01","spxi:hasEntity":["#;
const LD_HEAD: &str = r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","#;
const LD_END: &str = r#"{"@type":"spxi:IndexedEntity","@id":"https://a.example/last"}]}"#;

pub(crate) const SPXI: &[Case] = &[
    repeat(
        "entities",
        LD,
        r#"{"@type":"spxi:IndexedEntity","@id":"https://a.example/e{n}","spxi:canonicalName":"N{n}","spxi:negativeTag":["NOT a"],"spxi:semanticIntegrityMarker":["a{n}","b"]},"#,
        LD_END,
    ),
    repeat(
        "equal entities",
        LD,
        r#"{"@type":"spxi:IndexedEntity","@id":"https://a.example/e"},"#,
        LD_END,
    ),
    repeat(
        "equal names",
        LD,
        r#"{"@type":"spxi:IndexedEntity","@id":"https://a.example/e{n}","spxi:canonicalName":"N"},"#,
        LD_END,
    ),
    repeat(
        "markers",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasEntity":[{"@type":"spxi:IndexedEntity","@id":"https://a.example/e","spxi:semanticIntegrityMarker":["#,
        "\"m{n}\",",
        r#""x"]}]}"#,
    ),
    repeat(
        "equal markers",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasEntity":[{"@type":"spxi:IndexedEntity","@id":"https://a.example/e","spxi:semanticIntegrityMarker":["#,
        "\"m\",",
        r#""x"]}]}"#,
    ),
    repeat(
        "negative tags",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasEntity":[{"@type":"spxi:IndexedEntity","@id":"https://a.example/e","spxi:negativeTag":["#,
        "\"NOT m{n}\",",
        r#""x"]}]}"#,
    ),
    repeat("references", LD, r#"{"@id":"https://a.example/e{n}"},"#, LD_END),
    repeat(
        "blank nodes",
        LD,
        r#"{"@id":"_:b{n}","spxi:collidesWith":{"@id":"_:b0000001"}},"#,
        LD_END,
    ),
    halves(
        "references to one",
        [LD, LD_END],
        r#"{"@id":"_:a","x":"{n}"},"#,
        "",
        r#"{"@id":"_:b{n}","spxi:hasCollision":{"@id":"_:a"}},"#,
    ),
    repeat(
        "surfaces",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasSurface":["#,
        r#"{"@type":"spxi:Surface","@id":"https://a.example/s{n}","url":"https://a.example/{n}"},"#,
        "{}]}",
    ),
    repeat(
        "graph",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@graph":["#,
        r#"{"@id":"https://a.example/e{n}","@type":"Thing","name":"a"},"#,
        r#"{"@type":"spxi:SemanticIndex"}]}"#,
    ),
    repeat(
        "equal ids in a graph",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@graph":["#,
        r#"{"@id":"https://a.example/e","name":"a{n}"},"#,
        r#"{"@type":"spxi:SemanticIndex"}]}"#,
    ),
    repeat(
        "definitions",
        "{\"@context\":{",
        "\"t{n}\":\"https://schema.org/t{n}\",",
        r#""spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex"}"#,
    ),
    repeat(
        "chained definitions",
        "{\"@context\":{",
        "\"t{n}\":\"spxi:a\",",
        r#""spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex"}"#,
    ),
    repeat(
        "contexts",
        "{\"@context\":[",
        "{\"t{n}\":\"https://schema.org/a\"},",
        r#"{"spxi":"https://spxi.dev/vocabulary#"}],"@type":"spxi:SemanticIndex"}"#,
    ),
    repeat(
        "remote contexts",
        "{\"@context\":[",
        "\"https://schema.org/{n}\",",
        r#"{"spxi":"https://spxi.dev/vocabulary#"}],"@type":"spxi:SemanticIndex"}"#,
    ),
    repeat(
        "inner contexts",
        LD,
        r#"{"@context":{"t{n}":"https://schema.org/a"},"@id":"https://a.example/{n}"},"#,
        LD_END,
    ),
    halves(
        "definitions and inner contexts",
        ["{\"@context\":{", LD_END],
        "\"t{n}\":\"https://schema.org/a\",",
        r#""@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasEntity":["#,
        r#"{"@context":{"u":"https://schema.org/a"},"u":"b"},"#,
    ),
    halves(
        "definitions and members",
        ["{\"@context\":{", r#""x":1}"#],
        "\"t{n}\":\"https://schema.org/a\",",
        r#""spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","#,
        "\"t{n}\":\"b\",",
    ),
    nest(
        "nested contexts",
        [
            r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","x":"#,
            "}",
        ],
        r#"{"@context":{"a":"b:c"},"a":"#,
        "1",
        "}",
    ),
    nest(
        "nested objects",
        [
            r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","x":"#,
            "}",
        ],
        "{\"a\":",
        "1",
        "}",
    ),
    nest(
        "nested lists",
        [
            r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","x":"#,
            "}",
        ],
        "[",
        "1",
        "]",
    ),
    nest(
        "nested entities",
        [
            r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","spxi:hasEntity":"#,
            "}",
        ],
        r#"{"@type":"spxi:IndexedEntity","spxi:hasEntity":"#,
        "1",
        "}",
    ),
    repeat("members", LD_HEAD, "\"m{n}\":1,", "\"x\":1}"),
    repeat("equal members", LD_HEAD, "\"m\":1,", "\"x\":1}"),
    repeat(
        "types",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":["#,
        "\"t{n}\",",
        "\"spxi:SemanticIndex\"]}",
    ),
    repeat(
        "values",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","name":["#,
        "\"a\",",
        "1]}",
    ),
    repeat(
        "JSON literal",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","x":{"@type":"@json","@value":["#,
        "{\"a\":1},",
        "1]}}",
    ),
    repeat(
        "language map",
        r#"{"@context":{"@vocab":"https://schema.org/","n":{"@id":"name","@container":"@language"},"spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","n":{"#,
        "\"en-x-{n}\":\"a\",",
        "\"en\":\"b\"}}",
    ),
    repeat(
        "long text",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","name":""#,
        "word ",
        "\"}",
    ),
    repeat(
        "escapes",
        r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},"@type":"spxi:SemanticIndex","name":""#,
        "\\u0041",
        "\"}",
    ),
    repeat("open arrays", "", "[", ""),
    repeat("white space", "{", "\n", "}"),
    repeat(
        "packets",
        r#"{"@context":{"@vocab":"https://schema.org/","mp":"https://metadatapacket.org/vocabulary#"},"@type":"mp:MetadataPacket","@id":"https://a.example/p","mp:about":["#,
        r#"{"@type":["Person","mp:IndexedEntity"],"@id":"https://a.example/{n}","name":"a"},"#,
        "{}]}",
    ),
    repeat(
        "questions",
        r#"{"@context":{"@vocab":"https://schema.org/","mp":"https://metadatapacket.org/vocabulary#"},"@type":["Person","mp:IndexedEntity"],"@id":"https://a.example/p","mp:question":["#,
        r#"{"@type":"Question","name":"a{n}","acceptedAnswer":{"text":"b"}},"#,
        "{}]}",
    ),
];
