package import Scanning
import System

/// Findings about the machine's radios, for a person who wants to know why nothing is heard.
package enum RadioDiagnosis {
    /// One finding.
    package struct Finding: Hashable, Sendable {
        /// What was found, in a sentence.
        package let text: String
        /// What to do; nil if nothing is wrong.
        package let cure: String?

        init(_ text: String, cure: String? = nil) {
            self.text = text
            self.cure = cure
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
            let text = "the kernel has no Bluetooth (\(error.message))"
            return findings + [Finding(text, cure: "plug in an adapter, or: sudo modprobe bluetooth")]
        }
        let indexes = indexes(socket)
        if indexes.isEmpty {
            findings.append(
                Finding("there is no Bluetooth adapter", cure: "plug one in; rfkill list shows blocked ones"))
        }
        for index in indexes {
            guard let information = information(socket, index),
                selection.includes(index: index, address: information.address)
            else { continue }
            findings.append(state(of: index, information))
        }
        return findings
    }

    /// The numbers of this machine's selected adapters.
    package static func adapters(_ selection: AdapterSelection = .all) -> [UInt16] {
        controllers(selection).map(\.index)
    }

    /// The same adapters, with the kernel's information about them and the number of monitors that are set.
    static func controllers(
        _ selection: AdapterSelection
    ) -> [(index: UInt16, information: ControllerInformation, monitors: Int?)] {
        guard let socket = try? BluetoothSocket(.control, adapter: ManagementCommand.noIndex) else { return [] }
        return indexes(socket).compactMap { index in
            guard let information = information(socket, index),
                selection.includes(index: index, address: information.address)
            else { return nil }
            guard case .monitorFeatures(let handles, _) = answer(socket, .readMonitorFeatures(index)) else {
                return (index, information, nil)
            }
            return (index, information, handles)
        }
    }

    private static func rights(_ capability: Capability) -> Finding {
        guard !capability.isHeld else { return Finding("\(capability.name) is held") }
        let use = capability == .netAdmin ? "scanner \"mgmt\"" : "scanner \"hci\" and resetting a hung controller"
        return Finding("\(capability.name) is missing, which \(use) needs", cure: capability.cure)
    }

    private static func state(of index: UInt16, _ information: ControllerInformation) -> Finding {
        let name = "hci\(index) (\(information.address))"
        if !information.supported.contains(.lowEnergy) {
            return Finding("\(name) cannot do Bluetooth Low Energy", cure: "use an adapter of Bluetooth 4.0 or later")
        }
        if RadioSwitch.isBlocked(index) {
            return Finding("\(name) is blocked by rfkill", cure: "rfkill unblock bluetooth")
        }
        guard information.current.contains(.powered) else {
            return Finding("\(name) is off", cure: "the running service switches it on; by hand: bluetoothctl power on")
        }
        return Finding("\(name) is on")
    }

    private static func indexes(_ socket: BluetoothSocket) -> [UInt16] {
        guard case .indexList(let indexes) = answer(socket, .readIndexList) else { return [] }
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
