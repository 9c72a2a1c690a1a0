package import Base
package import Scanning
package import System

/// Opens the kernel's management interface. It throws if that is not there, or without the right to use it.
package typealias ManagementOpener = () throws(ScannerError) -> any ManagementChannel

/// The management socket on the host's loop.
package final class ManagementSocket: ManagementChannel {
    private let host: any EventHost
    private let socket: any PacketSocket
    private var token: (any EventRegistration)?
    package var onMessage: ((Span<UInt8>, MonotonicInstant) -> Void)?
    package var onFailure: ((String) -> Void)?

    /// - Throws: if the kernel has no Bluetooth.
    package convenience init(host: any EventHost) throws(ScannerError) {
        try self.init(host: host, kernel: RunningKernel())
    }

    /// A socket that tells of no packets, for a program part that only gives commands.
    ///
    /// - Throws: if the kernel has no Bluetooth.
    package static func withoutPackets(host: any EventHost) throws(ScannerError) -> ManagementSocket {
        let socket = try ManagementSocket(host: host)
        socket.socket.set(
            ManagementFilter(leftOut: [ManagementEvent.Code.deviceFound, ManagementEvent.Code.monitorDeviceFound]))
        return socket
    }

    /// - Throws: if the kernel has no Bluetooth.
    init(host: any EventHost, kernel: any KernelBluetooth) throws(ScannerError) {
        self.host = host
        socket = try kernel.openManagement()
    }

    deinit { token?.cancel() }

    package func open() {
        token = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
    }

    package func close() {
        token?.cancel()
        token = nil
    }

    package func send(_ command: ManagementCommand) throws(SystemError) { try socket.send(command.bytes) }

    var drops: UInt32 { socket.drops }

    /// The kernel answers this command before write() returns, so no wait is needed. Call this only before `open()`.
    func supportedCommands() -> [UInt16] {
        guard (try? send(.readSupportedCommands)) != nil else { return [] }
        var commands: [UInt16] = []
        _ = socket.receive(batches: 1) { message in
            guard let header = ManagementHeader(message) else { return true }
            let parameters = message.extracting(ManagementHeader.length...)
            guard case .supportedCommands(let list) = ManagementEvent(code: header.code, parameters: parameters) else {
                return true
            }
            commands = list
            return false
        }
        return commands
    }

    private func read() {
        let failure = socket.receive { message in
            onMessage?(message, host.now)
            return token != nil
        }
        guard let failure else { return }
        close()
        onFailure?(failure.message)
    }
}
