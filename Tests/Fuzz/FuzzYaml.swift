// A configuration of room-assistant, which a person found somewhere.
import Base
import Configuration
import JSON
import YAML

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(YAMLError) {
        let file = try RoomAssistantFile(input)
        // What is written must be a configuration that the service accepts.
        var members = Dictionary(file.settings.map { ($0.name, $0.value) }) { first, _ in first }
        members["_type"] = "configuration"
        if !file.tags.isEmpty { members["rooms"] = ["tags": .array(file.tags.map { .string($0) })] }
        require((try? Configuration(.object(members), hostName: "pi")) != nil, "what is translated is refused")
        require(file.addresses.count <= file.tags.count)
        for finding in file.findings { require(finding.line > 0 && !finding.text.isEmpty) }
    } catch {
        require(!error.description.isEmpty)
    }
    return 0
}
