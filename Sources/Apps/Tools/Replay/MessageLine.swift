import Base
import JSON

/// One message as `replay` prints it.
enum MessageLine {
    /// `{"topic":"…","qos":1,"retain":false,"payload":{…}}`
    static func bytes(of message: Publication) -> [UInt8] {
        var line = Array("{\"topic\":".utf8)
        line += JSONValue.string(message.topic).bytes
        line += Array(",\"qos\":\(message.qos.rawValue),\"retain\":\(message.isRetained),\"payload\":".utf8)
        // An empty payload removes a retained message.
        line += message.payload.isEmpty ? Array("null".utf8) : message.payload
        line.append(UInt8(ascii: "}"))
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
