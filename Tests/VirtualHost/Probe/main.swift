import BlueZScanning
import Glibc
import HostSupport
import KernelScanning
import Scanning

// scanner-probe diagnose: what stands in the way of hearing.
// scanner-probe mgmt|hci|hci-listen|bluez|auto [ADAPTER]: runs one way of scanning until SIGTERM, or until it ends. SIGUSR1 asks for a
// window of active scan on each adapter, and SIGUSR2 for its end.

/// Set by the signal handler, read by the loop.
nonisolated(unsafe) var isEnding: sig_atomic_t = 0
/// 1: a window is wanted; 2: none is; 0: nothing was said.
nonisolated(unsafe) var wish: sig_atomic_t = 0

func makeBlueZ(_ selection: AdapterSelection, _ host: PollLoop, _ output: Tally) -> BlueZScanner {
    BlueZScanner(selection: selection, host: host, output: output, isBlocked: { RadioSwitch.isBlocked($0) })
}

func makeScanner(
    _ scannerName: String, _ selection: AdapterSelection, host: PollLoop, output: Tally
) throws(ScannerError) -> (any Scanner)? {
    switch scannerName {
    case "mgmt": try MgmtScanner(selection: selection, host: host, output: output)
    case "hci": try HCIScanner(selection: selection, host: host, output: output)
    case "hci-listen": try HCIScanner(selection: selection, mode: .listenOnly, host: host, output: output)
    case "bluez": makeBlueZ(selection, host, output)
    case "auto":
        AutoScanner(
            candidates: [
                AutoScanner.Candidate("mgmt", "the kernel's advertisement monitors") { () throws(ScannerError) in
                    try MgmtScanner(selection: selection, host: host, output: output)
                },
                AutoScanner.Candidate("bluez", "bluetoothd") { makeBlueZ(selection, host, output) },
            ], host: host, output: output)
    default: nil
    }
}

if CommandLine.arguments.dropFirst().first == "diagnose" {
    for finding in RadioDiagnosis.findings() { print(finding.text, finding.remedy.map { "-> " + $0 } ?? "") }
    exit(0)
}
let host = PollLoop()
let tally = Tally(host)
let scannerName = CommandLine.arguments.dropFirst().first ?? ""
let chosen = CommandLine.arguments.dropFirst(2).compactMap { AdapterSelection($0) }
let selection = chosen.isEmpty ? AdapterSelection.all : .anyOf(chosen)
signal(SIGTERM) { _ in isEnding = 1 }
signal(SIGINT) { _ in isEnding = 1 }
do throws(ScannerError) {
    guard let scanner = try makeScanner(scannerName, selection, host: host, output: tally) else { exit(64) }
    signal(SIGUSR1) { _ in wish = 1 }
    signal(SIGUSR2) { _ in wish = 2 }
    try scanner.start()
    scanner.setOffersActiveScan(true)
    while isEnding == 0 {
        host.turn()
        if wish != 0 {
            for adapter in scanner.adapters { scanner.scanActively(wish == 1, by: adapter.receiver) }
            wish = 0
        }
        tally.tick(scanner.adapters)
    }
    let adapters = scanner.adapters
    scanner.stop()
    tally.total(of: adapters)
} catch {
    print("0 refused \(error.kind) \(error.description)")
    exit(error.kind == .permission ? 77 : 69)
}
