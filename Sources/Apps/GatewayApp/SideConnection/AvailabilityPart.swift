import Base
import Messaging

/// The retained availability of the gateway: `online` on each connection. The broker publishes the will, `offline`, at an
/// irregular end; at a regular one the gateway does it.
final class AvailabilityPart: SidePart {
    let name = SidePartName.availability
    private unowned let side: SideConnection

    init(_ side: SideConnection) { self.side = side }

    func connected(at now: MonotonicInstant) { publish("online") }

    func leaving() { publish("offline") }

    private func publish(_ state: String) {
        // The settings may name another device now.
        guard let will = side.will else { return }
        _ = side.publish(Publication(.state, topic: will.topic, payload: Array(state.utf8), isRetained: true))
    }
}
