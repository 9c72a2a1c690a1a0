import DBus

extension BlueZEnrolment {
    /// Takes what bluetoothd says and asks.
    func receive(_ message: BusMessage) {
        if message.isCall { return serve(message) }
        guard message.isSignal else { return }
        var reader = message.reader
        switch message.member {
        case "InterfacesAdded":
            guard let path = reader.string else { return }
            reader.next()
            change(path) { $0.add(path, reader) }
        case "InterfacesRemoved":
            guard let path = reader.string else { return }
            reader.next()
            change(path) { objects in reader.forEach { objects.remove(path, $0.string ?? "") } }
        case "PropertiesChanged":
            guard let interface = reader.string else { return }
            reader.next()
            change(message.path) { $0.update(message.path, interface, reader) }
        case "NameOwnerChanged":
            reader.next()
            reader.next()
            // The new owner; empty if the service has ended.
            if reader.string == "" { run.handle(.failed("bluetoothd has ended")) }
        default: break
        }
    }

    /// Answers bluetoothd's calls to the objects of the gateway.
    private func serve(_ message: BusMessage) {
        switch (message.interface, message.member) {
        case (Self.objectManager, "GetManagedObjects") where message.path == EnrolmentObjects.root:
            reply(to: message) { EnrolmentObjects.describe(appearance.profile, in: $0) }
        case (Self.properties, "GetAll") where message.path == EnrolmentObjects.advertisement:
            reply(to: message) {
                EnrolmentObjects.describeAdvertisement(appearance.profile, appearance.name, in: $0)
            }
        case (EnrolmentObjects.advertisementInterface, "Release"):
            reply(to: message)
            run.handle(.failed("bluetoothd has withdrawn the advertisement"))
        case (EnrolmentObjects.characteristicInterface, "ReadValue"):
            let characteristic = appearance.profile.characteristics.first { $0.path == message.path }
            reply(to: message) { EnrolmentObjects.value(characteristic?.value ?? [], in: $0) }
        case (EnrolmentObjects.characteristicInterface, _): reply(to: message)
        case ("org.bluez.Agent1", let member): answer(member, message)
        default: bus.send(message.error("org.freedesktop.DBus.Error.UnknownMethod", "no such method"))
        }
    }

    /// Answers for the agent. It can neither show nor read a number.
    private func answer(_ member: String, _ message: BusMessage) {
        switch member {
        case "RequestAuthorization", "RequestConfirmation", "AuthorizeService":
            guard allows(message.reader.string ?? "") else {
                return bus.send(message.error("org.bluez.Error.Rejected", "not now"))
            }
            reply(to: message)
        case "Cancel", "Release": reply(to: message)
        default: bus.send(message.error("org.bluez.Error.Rejected", "no keyboard and no screen"))
        }
    }

    private func reply(to message: BusMessage, _ body: (BusMessage) -> Void = { _ in }) {
        let reply = message.reply()
        reply.map(body)
        bus.send(reply)
    }
}
