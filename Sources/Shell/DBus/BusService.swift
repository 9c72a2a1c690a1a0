/// The one service of the bus that a connection is for, and who has its name now.
///
/// Every local user may send signals to any connection, whatever its match rules are. The bus writes the sender into each message, so
/// a message of another program can be told by its sender's unique name.
struct BusService {
    private static let bus = "org.freedesktop.DBus"

    private let name: String
    /// The unique name of the service's connection, such as `:1.7`; empty while it does not run, or before the bus has said it.
    private var owner = ""

    /// - Parameter name: The service's well-known name, such as `org.bluez`.
    init(_ name: String) { self.name = name }

    /// The match rule for changes of the name's owner.
    var changes: String {
        "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// The call that asks the bus for the name's owner.
    var question: BusMessage? {
        let call = BusMessage.call(Self.bus, "/org/freedesktop/DBus", Self.bus, "GetNameOwner")
        call?.append { $0.string(name) }
        return call
    }

    /// Takes the answer to the question: an error if nobody has the name.
    mutating func takeOwner(_ answer: BusMessage) { owner = answer.isError ? "" : answer.reader.string ?? "" }

    /// Whether a call or signal comes from the service, or tells that the owner of its name has changed.
    mutating func isSender(of message: BusMessage) -> Bool {
        guard message.sender == Self.bus else { return !owner.isEmpty && message.sender == owner }
        var reader = message.reader
        guard message.isSignal, message.member == "NameOwnerChanged", reader.string == name else { return false }
        reader.next()
        reader.next()
        owner = reader.string ?? ""
        return true
    }
}
