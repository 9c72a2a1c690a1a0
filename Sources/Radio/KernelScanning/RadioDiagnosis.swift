package import Beacon
import CBluetooth
package import Scanning
import System

/// Findings about the machine's radios, for a person who wants to know why nothing is heard.
package enum RadioDiagnosis {
    /// One finding.
    package struct Finding: Hashable, Sendable {
        /// What was found, in a sentence.
        package let text: String
        /// What to do; nil if nothing is wrong.
        package let remedy: String?

        init(_ text: String, remedy: String? = nil) {
            self.text = text
            self.remedy = remedy
        }
    }

    /// Checks the kernel's Bluetooth, the rights of this process and the adapters. It uses only commands that the
    /// kernel answers at once, so it neither waits nor disturbs a running scan.
    package static func findings(_ selection: AdapterSelection = .all) -> [Finding] {
        var findings = Capability.allCases.map(rights)
        let socket: BluetoothSocket
        do {
            socket = try BluetoothSocket(.control, adapter: ManagementCommand.noIndex)
        } catch {
            let problem = ScanProblem.socketRefusal(error)
            return findings + [Finding(problem.text, remedy: problem.remedy)]
        }
        let informed = informed(socket)
        for (index, information) in informed where selection.includes(index: index, address: information.address) {
            findings.append(state(of: index, information))
        }
        let census = census(socket, informed)
        // Where every adapter may be used, one that works is enough.
        let isEnough = selection == .all && census.absence(selection) == nil
        findings += census.problems(selection).map { Finding($0.text, remedy: isEnough ? nil : $0.remedy) }
        return findings
    }

    /// Why no selected adapter can be used; nil if one can.
    static func absence(_ selection: AdapterSelection) -> ScanProblem? {
        do {
            let socket = try BluetoothSocket(.control, adapter: ManagementCommand.noIndex)
            return census(socket, informed(socket)).absence(selection)
        } catch {
            return .socketRefusal(error)
        }
    }

    /// The adapters that programs can use.
    private static func informed(_ socket: BluetoothSocket) -> [(index: UInt16, information: ControllerInformation)] {
        indexes(socket, .readIndexList).compactMap { index in information(socket, index).map { (index, $0) } }
    }

    private static func census(
        _ socket: BluetoothSocket, _ informed: [(index: UInt16, information: ControllerInformation)]
    ) -> ControllerCensus {
        var census = ControllerCensus()
        census.usable = informed.map { PresentAdapter(index: $0.index, address: $0.information.address) }
        census.withoutLowEnergy = Set(informed.filter { !$0.information.supported.contains(.lowEnergy) }.map(\.index))
        for index in indexes(socket, .readUnconfiguredIndexList) {
            guard case .missingOptions(let options) = answer(socket, .readConfigurationInformation(index)) else {
                census.unconfigured[index] = []
                continue
            }
            census.unconfigured[index] = .init(rawValue: options)
        }
        for index in RadioSwitch.devices { census.devices.updateValue(device(index), forKey: index) }
        return census
    }

    /// What a raw socket tells of a controller.
    private static func device(_ index: UInt16) -> ControllerCensus.Device? {
        var information = hci_dev_info()
        guard hci_devinfo(CInt(index), &information) == 0 else { return nil }
        let octets = withUnsafeBytes(of: information.bdaddr) { Array($0) }
        let address = DeviceAddress(littleEndian: octets.span, at: 0, isRandom: false)
        return .init(flags: information.flags, address: address?.value == 0 ? nil : address)
    }

    /// The address of a controller; nil if it has none, or is not there.
    package static func address(of index: UInt16) -> DeviceAddress? { device(index)?.address }

    /// The numbers of this machine's selected adapters.
    package static func adapters(_ selection: AdapterSelection = .all) -> [UInt16] {
        controllers(selection).map(\.index)
    }

    /// The same adapters, with the kernel's information about them and the number of monitors that are set.
    static func controllers(
        _ selection: AdapterSelection
    ) -> [(index: UInt16, information: ControllerInformation, monitors: Int?)] {
        guard let socket = try? BluetoothSocket(.control, adapter: ManagementCommand.noIndex) else { return [] }
        return indexes(socket, .readIndexList).compactMap { index in
            guard let information = information(socket, index),
                selection.includes(index: index, address: information.address)
            else { return nil }
            guard case .monitorFeatures(let handles, _, _) = answer(socket, .readMonitorFeatures(index)) else {
                return (index, information, nil)
            }
            return (index, information, handles)
        }
    }

    private static func rights(_ capability: Capability) -> Finding {
        guard !capability.isHeld else { return Finding("\(capability.name) is held") }
        return Finding("\(capability.name) is missing, \(capability.purpose)", remedy: capability.remedy)
    }

    private static func state(of index: UInt16, _ information: ControllerInformation) -> Finding {
        let name = "hci\(index) (\(information.address))"
        if !information.supported.contains(.lowEnergy) {
            return Finding("\(name) cannot do Bluetooth Low Energy", remedy: "use an adapter of Bluetooth 4.0 or later")
        }
        if RadioSwitch.isBlocked(index) {
            return Finding("\(name) is blocked by rfkill", remedy: "rfkill unblock bluetooth")
        }
        guard information.current.contains(.powered) else {
            return Finding(
                "\(name) is off", remedy: "the running service switches it on; by hand: bluetoothctl power on")
        }
        return Finding("\(name) is on")
    }

    private static func indexes(_ socket: BluetoothSocket, _ command: ManagementCommand) -> [UInt16] {
        guard case .indexList(let indexes) = answer(socket, command) else { return [] }
        return indexes
    }

    private static func information(_ socket: BluetoothSocket, _ index: UInt16) -> ControllerInformation? {
        guard case .controllerInformation(let information) = answer(socket, .readControllerInformation(index)) else {
            return nil
        }
        return information
    }

    /// The kernel answers these commands before write() returns.
    private static func answer(
        _ socket: BluetoothSocket, _ command: ManagementCommand
    ) -> ManagementEvent? {
        guard (try? socket.send(command.bytes)) != nil else { return nil }
        var answer: ManagementEvent?
        _ = socket.receive { message in
            guard let header = ManagementHeader(message), header.code == ManagementEvent.Code.commandComplete else {
                return true
            }
            answer = ManagementEvent(code: header.code, parameters: message.extracting(ManagementHeader.length...))
            return false
        }
        return answer
    }
}
