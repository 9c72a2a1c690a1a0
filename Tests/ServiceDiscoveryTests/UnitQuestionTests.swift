import DBus
import DBusSupport
import ServiceDiscovery
import Testing

/// A question to systemd, whose answers the test writes.
@Suite struct UnitQuestionTests {
    private final class Asked {
        let bus = ScriptedBus()
        private(set) var ends = 0
        private(set) lazy var question = UnitQuestion("ibeacon-gateway.service", bus: bus) { [unowned self] in
            ends += 1
        }

        init() { question.start() }
    }

    private static let unit = "/org/freedesktop/systemd1/unit/ibeacon_2dgateway_2eservice"

    @Test(arguments: ["active", "failed", "activating"])
    func `The state of a unit is the property of its object`(state: String) {
        let asked = Asked()
        #expect(asked.bus.roots(of: "GetUnit") == ["ibeacon-gateway.service"])
        asked.bus.answer("GetUnit") { $0.path(Self.unit) }
        #expect(asked.ends == 0)
        asked.bus.answer("Get", of: Self.unit) { $0.container(BusType.variant, "s") { $0.string(state) } }
        #expect(asked.question.answer == .state(state))
        #expect(asked.ends == 1)
    }

    @Test func `A unit that is not loaded is inactive`() {
        let asked = Asked()
        asked.bus.refuse("GetUnit", with: "org.freedesktop.systemd1.NoSuchUnit")
        #expect(asked.question.answer == .state("inactive"))
    }

    @Test(arguments: ["org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.AccessDenied"])
    func `A refusal tells nothing of the unit`(name: String) {
        let asked = Asked()
        asked.bus.refuse("GetUnit", with: name)
        #expect(asked.question.answer == .unknown("\(name): no"))
        let later = Asked()
        later.bus.answer("GetUnit") { $0.path(Self.unit) }
        later.bus.refuse("Get", with: name)
        #expect(later.question.answer == .unknown("\(name): no"))
    }

    @Test func `An answer of another kind, or no answer, tells nothing of the unit`() {
        let strange = Asked()
        strange.bus.answer("GetUnit") { $0.string("/somewhere") }
        #expect(strange.question.answer == .unknown("systemd names no object of ibeacon-gateway.service"))
        let number = Asked()
        number.bus.answer("GetUnit") { $0.path(Self.unit) }
        number.bus.answer("Get") { $0.uint16(1) }
        #expect(number.question.answer == .unknown("systemd tells no state of ibeacon-gateway.service"))
        let lost = Asked()
        lost.bus.breaks()
        #expect(lost.question.answer == .unknown("the D-Bus system bus is gone"))
        #expect(lost.ends == 1)
    }
}
