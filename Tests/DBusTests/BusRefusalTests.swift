import Testing

@testable import DBus

/// What is said when there is no connection to the bus.
@Suite struct BusRefusalTests {
    private static let denied = "org.freedesktop.DBus.Error.AccessDenied: An"
    private static let socket = "/run/dbus/system_bus_socket"

    @Test(arguments: [
        ("\(socket): No such file or directory", "install and start dbus"),
        ("\(socket): Connection refused", "install and start dbus"),
        ("\(denied) AppArmor policy prevents this sender from sending this message", "AppArmor profile"),
        ("\(denied) SELinux policy prevents this sender from sending this message", "SELinux's policy"),
        ("\(socket): Permission denied", "a policy in"),
        ("org.freedesktop.DBus.Error.AccessDenied: Rejected send message", "a policy in"),
    ])
    func `The reason decides what to do`(reason: String, remedy: String) {
        let text = BusError.missing(reason).description
        #expect(text.contains(reason))
        #expect(text.contains(remedy))
        #expect(text.contains("install") == remedy.contains("install"), "only where there is no bus")
    }

    @Test func `A refusal of the service itself has no cure of the bus`() {
        #expect(BusRefusal.remedy("org.bluez.Error.Failed: Failed") == nil)
    }
}
