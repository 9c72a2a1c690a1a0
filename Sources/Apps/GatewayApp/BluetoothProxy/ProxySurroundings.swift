package import Base
package import Beacon
package import BluetoothProxy
package import Configuration
import DBus
import Encryption
import Glibc
import KernelScanning
import ProxyLink
package import Runtime
package import ServiceDiscovery
package import System

extension ProxyLink: ProxyEndpoint {}

/// What a Bluetooth proxy has of the machine: a port, Avahi, and what the machine is called. In unit tests it is a script.
package struct ProxySurroundings {
    /// Why an address may have no packets; nil: it may.
    package typealias Refusal = (String) -> String?

    /// Listens at once, if it can.
    package typealias Open = (ProxySettings, ProxyKey, ListenAddress, @escaping Refusal) -> Result<
        any ProxyEndpoint, SystemError
    >

    package var open: Open
    /// Announces a service; nil: there is no system bus. The closure is called when something has changed.
    package var publish: (AvahiPublication.Service, @escaping () -> Void) -> AvahiPublication?
    package var facts: (Receiver) -> ProxyIdentity.Facts
    /// The addresses of this machine at this moment.
    package var machine: () -> MachineAddresses
    /// The address at which others reach this machine.
    package var outwardAddress: () -> String?

    package init(
        open: @escaping Open,
        publish: @escaping (AvahiPublication.Service, @escaping () -> Void) -> AvahiPublication?,
        facts: @escaping (Receiver) -> ProxyIdentity.Facts, machine: @escaping () -> MachineAddresses,
        outwardAddress: @escaping () -> String?
    ) {
        (self.open, self.publish, self.facts) = (open, publish, facts)
        (self.machine, self.outwardAddress) = (machine, outwardAddress)
    }

    /// Those of the machine.
    ///
    /// - Parameter isRecorded: The radio is a recording, whose receivers are no adapters of this machine.
    package static func machine(_ loop: EventLoop, host: any EventHost, isRecorded: Bool) -> ProxySurroundings {
        ProxySurroundings(
            open: { settings, key, address, refusal in
                Result { () throws(SystemError) in try open(settings, key, address, loop, refusal) }
            },
            publish: { service, onChange in
                guard let bus = try? BusConnection(to: AvahiSearch.busName, host: host) else { return nil }
                return AvahiPublication(service, bus: bus, onChange: onChange)
            },
            facts: { receiver in
                ProxyIdentity.Facts(
                    networkAdapter: MachineNetwork.adapterAddress(),
                    installation: MachineNetwork.machineID(),
                    bluetooth: isRecorded ? nil : RadioDiagnosis.address(of: receiver.index))
            },
            machine: { MachineNetwork.addresses() }, outwardAddress: { MachineNetwork.outwardAddress() })
    }

    /// `*` is every address of both families, or of IPv4 where the machine has no IPv6.
    private static func open(
        _ settings: ProxySettings, _ key: ProxyKey, _ address: ListenAddress, _ loop: EventLoop,
        _ refusal: @escaping Refusal
    ) throws(SystemError) -> any ProxyEndpoint {
        guard let functions = NoiseFunctions() else { throw SystemError("getrandom", code: ENOSYS) }
        let isEverywhere = address.host == "*"
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        if isEverywhere,
            let link = try? ProxyLink(
                settings, key: key, functions: functions, host: "::", port: address.port, loop: loop, refusal: refusal)
        {
            return link
        }
        return try ProxyLink(
            settings, key: key, functions: functions, host: host, port: address.port, loop: loop,
            refusal: refusal)
    }
}
