import Base
import JSON

/// The names that the gateway had before as its `deviceId`. They are stored until their entities are removed, because the
/// broker may be away when the gateway gets another name.
struct FormerDeviceNames: Hashable {
    /// The key of the store under which it has the names.
    static let storeKey = "former devices"
    /// More are forgotten, the earliest first.
    static let most = 8

    private(set) var names: [String] = []

    init() {}

    /// - Parameter bytes: What `bytes` returned; anything else is no name.
    init(bytes: [UInt8]) {
        names = ((try? JSONValue(parsing: bytes))?.array?.compactMap(\.string) ?? []).suffix(Self.most).map(\.self)
    }

    var bytes: [UInt8] { JSONValue.array(names.map { .string($0) }).bytes }

    /// - Parameter name: The name that the gateway had until now.
    mutating func add(_ name: String) {
        remove(name)
        names = (names + [name]).suffix(Self.most)
    }

    mutating func remove(_ name: String) { names.removeAll { $0.hasSameBytes(as: name) } }
}
