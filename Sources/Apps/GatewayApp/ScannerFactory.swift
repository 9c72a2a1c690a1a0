package import Base
import BlueZScanning
import Configuration
import KernelScanning
package import Scanning
import Shell
import System

extension Settings {
    /// The scanner that the configuration asks for, with its duty, not started yet.
    package func makeScanner(host: any EventHost, output: any ScannerOutput) throws(ScannerError) -> any Scanner {
        let scanner = try chosenScanner(host: host, output: output)
        scanner.setDuty(configuration.duty)
        return scanner
    }

    private func chosenScanner(host: any EventHost, output: any ScannerOutput) throws(ScannerError) -> any Scanner {
        let selection = configuration.adapterSelection
        switch configuration.scanner {
        case .capture(let file, let speed):
            let resolved = FileAccess.resolve(file, beside: path)
            return CaptureScanner(path: resolved, speed: speed, host: host, output: output)
        case .mgmt: return try MgmtScanner(selection: selection, host: host, output: output)
        case .hci: return try HCIScanner(selection: selection, host: host, output: output)
        case .bluez: return bluez(host: host, output: output)
        case .auto:
            return AutoScanner(
                candidates: [
                    AutoScanner.Candidate("mgmt", "the kernel's advertisement monitors") { () throws(ScannerError) in
                        try MgmtScanner(selection: selection, host: host, output: output)
                    },
                    AutoScanner.Candidate("bluez", "bluetoothd") { bluez(host: host, output: output) },
                ], host: host, output: output)
        }
    }

    private func bluez(host: any EventHost, output: any ScannerOutput) -> BlueZScanner {
        BlueZScanner(
            selection: configuration.adapterSelection, host: host, output: output,
            isBlocked: { RadioSwitch.isBlocked($0) })
    }
}

extension Configuration {
    /// The duty that `scanDuty` asks for. "auto" is all the time, until it is measured what a smaller share does on
    /// a Pi whose Wi-Fi shares the antenna.
    package var duty: ScanDuty { scanDuty.map { ScanDuty(share: $0) } ?? .full }

    package var adapterSelection: AdapterSelection {
        guard !adapters.isEmpty else { return .all }
        return .anyOf(
            adapters.map { adapter in
                switch adapter {
                case .index(let index): .index(index)
                case .address(let address): .address(address)
                }
            })
    }
}
