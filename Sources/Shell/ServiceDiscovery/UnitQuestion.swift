package import DBus

/// Asks systemd for the state of a unit, over D-Bus (`org.freedesktop.systemd1`, man page org.freedesktop.systemd1(5)).
///
/// The control groups of a host tell the same only where their layout is known.
package final class UnitQuestion {
    package enum Answer: Hashable, Sendable {
        /// The property `ActiveState`, such as `active` or `failed`. A unit that is not loaded is `inactive`.
        case state(String)
        /// systemd did not say, for this reason.
        case unknown(String)
    }

    package static let busName = "org.freedesktop.systemd1"
    private static let root = "/org/freedesktop/systemd1"
    private static let manager = "org.freedesktop.systemd1.Manager"
    private static let unitInterface = "org.freedesktop.systemd1.Unit"

    private let unit: String
    private let bus: any MessageBus
    private let onEnd: () -> Void
    /// nil until systemd has answered.
    package private(set) var answer: Answer?

    /// - Parameters:
    ///   - unit: such as `ibeacon-gateway.service`.
    ///   - onEnd: called once, when there is an answer.
    package init(_ unit: String, bus: any MessageBus, onEnd: @escaping () -> Void) {
        (self.unit, self.bus, self.onEnd) = (unit, bus, onEnd)
    }

    /// Begins to ask. `stop` must end it.
    package func start() {
        bus.onClosed = { [weak self] in
            guard let self else { return }
            end(.unknown("\(bus.problem)"))
        }
        bus.open()
        let call = BusMessage.call(Self.busName, Self.root, Self.manager, "GetUnit")
        call?.append { [unit] in $0.string(unit) }
        bus.call(call) { [weak self] answer in
            guard let self else { return }
            guard !answer.isError else {
                let isAbsent = answer.errorName.hasSuffix(".NoSuchUnit")
                return end(isAbsent ? .state("inactive") : .unknown(answer.errorText))
            }
            ask(answer.reader.string ?? "")
        }
    }

    package func stop() { bus.close() }

    private func ask(_ path: String) {
        guard path.hasPrefix("\(Self.root)/unit/") else { return end(.unknown("systemd names no object of \(unit)")) }
        let call = BusMessage.call(Self.busName, path, "org.freedesktop.DBus.Properties", "Get")
        call?.append { arguments in
            arguments.string(Self.unitInterface)
            arguments.string("ActiveState")
        }
        bus.call(call) { [weak self] answer in
            guard !answer.isError else { self?.end(.unknown(answer.errorText)); return }
            let state = answer.reader.inside?.string
            self?.end(state.map { .state($0) } ?? .unknown("systemd tells no state of \(self?.unit ?? "")"))
        }
    }

    private func end(_ answer: Answer) {
        guard self.answer == nil else { return }
        self.answer = answer
        onEnd()
    }
}
