/// A message bus, for one of its services. In the program it is a connection to the system bus, in unit tests a script. No call
/// waits for its answer.
package protocol MessageBus: AnyObject {
    /// Calls and signals of the service, and the bus's signal `NameOwnerChanged` for the service's name, which needs no match rule.
    var onMessage: ((BusMessage) -> Void)? { get set }
    /// The connection is gone, or was not made.
    var onClosed: (() -> Void)? { get set }
    /// Why it is gone, and what to do.
    var problem: BusError { get }
    /// Begins to read.
    func open()
    func close()
    /// Asks for the signals that fit a match rule, without waiting for the bus to agree.
    func match(_ rule: String)
    func send(_ message: BusMessage?)
    /// How long the oldest call without an answer has waited; nil: none waits.
    var longestWait: Duration? { get }
    /// - Parameter answered: gets the answer, an error perhaps, once.
    func call(_ message: BusMessage?, _ answered: @escaping (BusMessage) -> Void)
}

extension MessageBus {
    package var problem: BusError { .gone }
}
