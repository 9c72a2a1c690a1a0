import Base
import Configuration
import Glibc
import OwnTracks
import Regions
import Shell
import Storage
import System

extension Setup {
    /// Defines the first region, from the beacon that is held to the antenna.
    mutating func chooseRegion() throws {
        // The tags of a file are enough to begin with.
        let standard = dialogue.isInteractive && origin?.tags.isEmpty != false ? "ask" : "none"
        let wish = arguments.value("beacon") ?? standard
        switch wish {
        case "none": return
        case "strongest", "ask": try chooseByEar(asks: wish == "ask")
        default: region = (try name(), wish)
        }
        // Invalid answers must be found before anything is written.
        _ = try describedRegion()
    }

    private func name() throws(Failure) -> String {
        if let name = arguments.value("region") { return name }
        return try dialogue.ask("Name of the first region", "Beacon")
    }

    private mutating func chooseByEar(asks: Bool) throws {
        let duration = try arguments.seconds("listen") ?? .seconds(10)
        while true {
            dialogue.show(
                "Hold the beacon of your first region to the antenna. Listening for \(decimal(duration)) s …")
            let listener = try BeaconListener.listen(try settings(), for: duration)
            let heard = listener.heard
            guard let best = heard.first else {
                let reason = listener.problems.first ?? "no iBeacon was heard, of \(listener.reports) reports"
                guard asks else { throw Failure(.unavailable, "\(reason); nothing was written") }
                dialogue.show(Terminal.printable(reason))
                guard try dialogue.confirm("Listen again?", true) else { return }
                continue
            }
            let rows = heard.prefix(10).map { ["\($0.beacon)", "\($0.strength) dBm", "\($0.reports)"] }
            dialogue.show(Terminal.table(["BEACON", "STRENGTH", "REPORTS"], rows))
            guard asks else { return region = (try name(), "\(best.beacon)") }
            if try dialogue.confirm("Make a region of the strongest, \(best.beacon)?", true) {
                return region = (try name(), "\(best.beacon)")
            }
            guard try dialogue.confirm("Listen again?", true) else { return }
        }
    }

    private func describedRegion() throws(Failure) -> Region? {
        guard let region else { return nil }
        return try Self.described("\(region.name):\(region.beacon)")
    }

    /// - Parameter text: `NAME:UUID[:MAJOR[:MINOR]]`, or the description of an identity.
    static func described(_ text: String) throws(Failure) -> Region {
        let shown = RegionDescription.shown(text)
        let description = try mapError({ Failure(.usage, "'\(shown)' is not a region: \($0)") }) {
            () throws(RegionDescriptionError) in
            // The numbers shown here are decimal, and so are the numbers that the user types.
            try RegionDescription(parsing: text, base: .decimal)
        }
        guard description.pattern != nil else {
            throw Failure(.usage, "'\(shown)' has no UUID; write UUID[:MAJOR[:MINOR]]")
        }
        let now = Int64(time(nil))
        // Where it is stored, it gets the `rid` of a free second.
        return Region(rid: "", description: description, timestamp: now).keepingIdentity()
    }

    /// Writes all answers.
    func write() throws {
        let before = (try? Settings.load(arguments))?.configuration.trackers[0].topics.base
        let directory = SetupFiles.directory(of: path)
        if directory == SetupFiles.directory(of: Settings.defaultPath),
            let problem = SetupFiles.share(directory, with: "ibeacon-gateway")
        {
            dialogue.show(problem)
        }
        let files: [(path: String, bytes: [UInt8]?)] = [
            (authorityPath, authority), (passwordPath, password.map { Array("\($0.revealed)\n".utf8) }),
            (path, Array(SetupFiles.configuration(members).utf8)),
        ]
        // All are kept before the first is replaced, so that nothing is lost on a full disk.
        for file in files where file.bytes != nil && FileAccess.exists(file.path) {
            dialogue.show("Kept the old \(file.path) as \(try SetupFiles.keep(file.path)).")
        }
        for case let (path, bytes?) in files { try SetupFiles.write(bytes, to: path) }
        // The file is read in the same way as by the service.
        let settings = try Settings(readingFrom: path, stateDirectory: stateDirectory)
        dialogue.show("Wrote \(path).")
        try writeRegions(of: settings.configuration.trackers[0].topics.base, before: before)
    }

    /// Writes the new region. Regions belong to a topic, so those of a previous topic are copied.
    private func writeRegions(of base: String, before: String?) throws {
        var copied: [Region] = []
        if let before, !before.hasSameBytes(as: base),
            let stored = try? StoreReader(directory: stateDirectory).regions()[before]?.regions, !stored.isEmpty
        {
            copied = stored
            dialogue.show("Took over the regions of \(before): \(stored.map(\.displayName).joined(separator: ", ")).")
        }
        var new: [Region] = []
        if let region = try describedRegion() {
            new.append(region)
            dialogue.show("Made the region \(region.displayName).")
        }
        for text in origin?.addresses ?? [] {
            let region = try Self.described(text)
            new.append(region)
            dialogue.show("Made the region \(region.displayName), so that this gateway listens for its address.")
        }
        guard !(copied + new).isEmpty else { return }
        try StoreEditor.edit(stateDirectory, of: base) { regions in
            var regions = regions
            var changes = copied.map { RegionChange.set($0, isRIDDerived: false) }
            regions.apply(changes)
            for region in new {
                guard case .new(let added) = RegionAddition(region, to: regions) else { continue }
                changes.append(.set(added, isRIDDerived: false))
                regions.apply([.set(added, isRIDDerived: false)])
            }
            return changes
        }
    }

    /// Starts the service, or restarts it with the answers.
    func startService() throws {
        let service = SystemService.gateway
        guard isForService, service.isInstalled else { return }
        guard service.mayBeControlled else {
            return dialogue.show("To start the service: sudo systemctl restart ibeacon-gateway")
        }
        guard service.control("enable", "--quiet"), service.control("restart") else {
            throw Failure(.unavailable, "the service does not start; why: journalctl -u ibeacon-gateway -n 20")
        }
        dialogue.show("The service runs.")
    }

    func conclude() {
        let base = (try? settings().configuration.trackers[0].topics.base) ?? ""
        if let origin, !origin.tags.isEmpty, runsRoomsService != true {
            // A second `setup` would refuse to replace the file that this one has written.
            Terminal.print(
                "One rooms service decides on the tags. To run it on this machine: "
                    + "sudo systemctl enable --now ibeacon-gateway-rooms")
        }
        Terminal.print("Who comes and goes is published on \(base)/event.")
        Terminal.print("See it:      mosquitto_sub -h \(host) -p \(port) -v -t '\(base)/#'")
        Terminal.print("Who is near: sudo ibeacon-gateway scan")
        Terminal.print("If it fails: sudo ibeacon-gateway doctor")
    }
}
