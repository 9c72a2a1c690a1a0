import Base
import Configuration
import GatewayApp
import Glibc
import JSON
import OwnTracks
import Regions
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import Storage
import System

extension RegionsCommand {
    /// The owner of the regions, and where they are stored.
    struct Context {
        /// A tracker, or the tags of the rooms service.
        struct Owner {
            /// The word after `--tracker`.
            let name: String
            let topic: String
            /// The regions of the configuration file. A service merges them into its own at each start and reload.
            let configured: [RegionChange]
        }

        let directory: String
        let base: NumberBase
        /// Whose regions the command means: of the tracker that was named, else of all. The first is changed.
        let owners: [Owner]
        /// The command's name, and the number of operands that are part of the name.
        let command: String
        let leadingWords: Int
        /// The tracker that holds the history of the region with this id; nil if regions share a history.
        private(set) var historyTopic: ((String) -> String)?
        /// nil for regions of a tracker.
        private(set) var tagRemarks: TagRemarks?
        /// Of the regions of all trackers, named or not; nil for tags.
        private var limit: RegionLimit?

        init(_ arguments: Arguments) throws(Failure) {
            let settings = try Settings.loadInForce(arguments)
            directory = settings.stateDirectory
            base = settings.configuration.numberBase
            let named = try arguments.value("tracker").map { name throws(Failure) in try settings.tracker(name) }
            let trackers = settings.configuration.trackers
            owners = (named.map { [trackers[$0]] } ?? trackers).map { tracker in
                let isUnique = trackers.count { $0.trackerID.hasSameBytes(as: tracker.trackerID) } == 1
                return Owner(
                    name: isUnique ? tracker.trackerID : tracker.deviceID, topic: tracker.topics.base,
                    configured: tracker.waypoints.changes)
            }
            (command, leadingWords) = ("regions", 0)
            limit = RegionLimit(of: trackers.map(\.topics.base), most: Configuration.mostRegions)
        }

        private init(_ settings: Settings, of owner: Owner, command: String) {
            directory = settings.stateDirectory
            base = settings.configuration.numberBase
            (owners, self.command, leadingWords) = ([owner], command, 1)
        }

        /// The tags of the rooms service.
        static func tags(_ arguments: Arguments) throws(Failure) -> Context {
            let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
            let identity = try RoomServiceIdentity(settings.configuration)
            let configured = settings.configuration.rooms?.tags ?? []
            let owner = Owner(name: "", topic: identity.topics.base, configured: configured)
            var context = Context(settings, of: owner, command: "rooms tags")
            context.historyTopic = identity.addresses.topic(ofTag:)
            context.tagRemarks = try TagRemarks(settings.configuration)
            return context
        }

        /// What people call one of them.
        var noun: String { historyTopic == nil ? "region" : "tag" }

        /// The words that may follow the command's name. `adopt` has a command of its own.
        var actions: [String] { RegionsCommand.actions + (historyTopic == nil ? [] : ["adopt"]) }

        /// The topic of the owner whose regions are changed.
        var topic: String { owners[0].topic }

        /// Says what may be unexpected about the regions that changes make.
        ///
        /// - Parameter isRead: Whether the remarks of their reader were shown.
        func remark(on changes: [RegionChange], isRead: Bool = false) {
            for case .set(let region, _) in changes {
                let remarks = isRead ? [] : [region.remark].compactMap(\.self)
                let kept = configuredRegion(region, of: topic).flatMap { $0 == region ? nil : Self.returns }
                for remark in remarks + (tagRemarks?.remarks(on: region) ?? []) + [kept].compactMap(\.self) {
                    Terminal.printError("warning: '\(region.displayName)': \(remark)")
                }
            }
        }

        private static let returns =
            "it is in the configuration file (waypoints), too, which sets it again at each start and reload; change it there"

        /// Says that a region of a tracker, which is removed, comes back.
        func remark(onRemovalOf region: Region, of topic: String) {
            guard configuredRegion(region, of: topic) != nil else { return }
            Terminal.printError("warning: '\(region.displayName)': \(Self.returns)")
        }

        /// What the configuration file says of a tracker's region; nil if the region is not there.
        private func configuredRegion(_ region: Region, of topic: String) -> Region? {
            guard historyTopic == nil else { return nil }
            let owner = owners.first { $0.topic.hasSameBytes(as: topic) }
            for case .set(let configured, _) in owner?.configured ?? []
            where configured.rid.hasSameBytes(as: region.rid) {
                return configured
            }
            return nil
        }

        func regions() throws -> [Region] { try stored(topic).regions }

        func regions(of owner: Owner) throws -> [Region] { try stored(owner.topic).regions }

        /// The regions of an owner as they are stored; of the rooms service, with the tags of the configuration file.
        func stored(_ topic: String) throws -> RegionSet {
            let stored = try StoreReader.read(directory) { try $0.regions()[topic] ?? RegionSet() } ?? RegionSet()
            return tags(in: stored).kept
        }

        /// Stored regions with the tags of the configuration file. Regions of a tracker stay as they are: what is removed of these comes
        /// back with the next start alone.
        private func tags(in stored: RegionSet) -> TagRegions {
            TagRegions(stored: stored, configured: historyTopic == nil ? [] : owners[0].configured)
        }

        /// Says of each region whether the configuration file defines it as a tag.
        func areConfigured(_ regions: [Region]) -> [Bool] { regions.map(tags(in: RegionSet()).isConfigured) }

        /// - Throws: `Failure` if the region is a tag of the configuration file, which a restart of the service would bring back, or
        ///   if a running service has read it there and has not read the file again.
        func needEditable(_ region: Region) throws(Failure) {
            let file = tags(in: RegionSet())
            guard !file.isConfigured(region) else {
                throw Failure(.badData, "'\(region.displayName)': \(TagRegions.configuredReason)")
            }
            guard historyTopic != nil, let id = TagIdentity(region)?.id, !file.configuredIDs.contains(id) else {
                return
            }
            let path = "/tag.json?id=\(StatusClient.encoded(id))"
            let answer = try? StatusClient(stateDirectory: directory, within: .seconds(1)).ask(path)
            guard answer?["configured"]?.asBool == true else { return }
            throw Failure(
                .temporaryFailure,
                "'\(region.displayName)' was in the configuration file when the service read it, and is removed when the service "
                    + "reads it again: sudo systemctl reload ibeacon-gateway-rooms")
        }

        /// Takes out of a list the changes of tags of the configuration file.
        ///
        /// - Returns: Why, for each of them.
        func refuseConfiguredTags(in changes: inout [RegionChange]) throws -> [String] {
            let (possible, refusals) = tags(in: try stored(topic)).sparingConfigured(changes)
            changes = possible
            return refusals
        }

        /// The region with this key. A tag can also be named by its id, which its topics contain.
        func find(_ rid: String, in regions: [Region]) -> Region? {
            if let region = regions.first(where: { $0.rid.hasSameBytes(as: rid) }) { return region }
            return historyTopic == nil ? nil : regions.first { TagIdentity($0)?.id == rid }
        }

        /// - Parameter id: The id that a tag is to have; nil: none is given. An imported tag may have any key, and is found by it.
        /// - Throws: `Failure` if it cannot be an id: the service would call the tag by its name instead, and that may be the id of
        ///   another tag, which would be lost.
        func checkID(_ id: String?, among regions: [Region]) throws(Failure) {
            guard let id, !TopicIdentifier.isIdentifier(id), find(id, in: regions) == nil else { return }
            let text = "--rid '\(id)' cannot be the id of a tag, which is a level of its topics"
            throw Failure(.usage, "\(text); write 1 to 64 of these characters: a to z, A to Z, 0 to 9, '_' and '-'")
        }

        /// The tag that `add` changes; nil if it adds one. Regions have no ids, and may share a beacon.
        ///
        /// - Parameter given: The id of the tag; nil: the id is made from its name.
        func existingTag(_ new: RegionDescription, id given: String?, in regions: [Region]) throws(Failure) -> Region? {
            guard historyTopic != nil else { return nil }
            let id = given ?? RoomName.id(of: new.name)
            let tag = find(id, in: regions)
            if given == nil, let tag, RoomName.id(of: tag.displayName) != id {
                let text = "'\(id)' is the id of the tag '\(tag.displayName)' already"
                throw Failure(.badData, "\(text); give the new tag another one with --rid")
            }
            if let other = regions.first(where: {
                tag?.rid.hasSameBytes(as: $0.rid) != true && $0.description.pattern == new.pattern
            }) {
                throw Failure(.badData, "this beacon is the tag '\(other.displayName)' already")
            }
            return tag
        }

        /// Takes out of a list the changes that would make a second tag of a beacon. The list may exchange the beacons of
        /// tags.
        ///
        /// - Returns: Why, for each of them.
        func refuseBeaconsOfTags(in changes: inout [RegionChange]) throws -> [String] {
            guard historyTopic != nil else { return [] }
            let before = try stored(topic)
            var reasons: [String] = []
            // Without a refused change its tag keeps its beacon, which another change may give away.
            while case let refused = Self.secondTags(by: changes, in: before), !refused.isEmpty {
                reasons += refused.sorted { $0.key < $1.key }.map(\.value)
                changes = changes.indices.filter { refused[$0] == nil }.map { changes[$0] }
            }
            return reasons
        }

        /// What is wrong with changes that make a second tag of a beacon, by their indices.
        private static func secondTags(by changes: [RegionChange], in before: RegionSet) -> [Int: String] {
            var after = before
            after.apply(changes)
            func keepsBeacon(_ tag: Region) -> Bool {
                before[rid: tag.rid]?.description.pattern == tag.description.pattern
            }
            var holders: [BeaconPattern: Region] = [:]
            for tag in after.regions.filter(keepsBeacon) + after.regions {
                guard let pattern = tag.description.pattern, holders[pattern] == nil else { continue }
                holders[pattern] = tag
            }
            var reasons: [Int: String] = [:]
            for (index, change) in changes.enumerated() {
                guard case .set(let region, _) = change, let pattern = region.description.pattern,
                    let holder = holders[pattern],
                    // Without this `rid` the change means the tag with its time stamp.
                    let tag = after[rid: region.rid]
                        ?? after.regions.first(where: { $0.timestamp == region.timestamp }),
                    tag.description.pattern == pattern, !keepsBeacon(tag),
                    TagIdentity(tag)?.id != TagIdentity(holder)?.id
                else { continue }
                reasons[index] =
                    "waypoint '\(region.displayName)': the beacon \(pattern) is the tag '\(holder.displayName)' already"
            }
            return reasons
        }

        func hasHistory(of tracker: String) throws -> Bool {
            var isThere = false
            _ = try StoreReader.read(directory) { reader in
                try reader.forEachTransition(HistoryFilter(tracker: tracker, limit: 1)) { _ in
                    isThere = true
                    return false
                }
            }
            return isThere
        }

        /// The region with this RID, else the only one with this name.
        ///
        /// - Returns: nil if there is none.
        /// - Throws: `Failure` if several are meant, of one tracker or of several.
        func lookUp(_ word: String) throws -> (region: Region, topic: String)? {
            let all = try owners.map { ($0, try regions(of: $0)) }
            var found = all.flatMap { owner, regions in find(word, in: regions).map { [(owner, $0)] } ?? [] }
            if found.isEmpty {
                found = all.flatMap { owner, regions in
                    regions.filter { $0.description.name == word || $0.displayName == word }.map { (owner, $0) }
                }
            }
            guard let (owner, region) = found.first else { return nil }
            guard found.count == 1 else { throw ambiguity(of: word, found) }
            return (region, topic: told(owner, of: region))
        }

        private func ambiguity(of word: String, _ found: [(owner: Owner, region: Region)]) -> Failure {
            var names: [String] = []
            for (owner, _) in found where !names.contains(owner.name) { names.append(owner.name) }
            let way =
                names.count > 1
                ? "say whose: \(names.map { "--tracker \($0)" }.joined(separator: ", "))"
                : "name one by its RID: \(found.map(\.region.rid).joined(separator: ", "))"
            return Failure(.badData, "\(found.count) \(noun)s are called '\(word)'; \(way)")
        }

        /// The owner's topic. Says whose region it is, if that is not the first owner.
        private func told(_ owner: Owner, of region: Region) -> String {
            if !owner.topic.hasSameBytes(as: topic) {
                Terminal.printError("'\(region.displayName)' is a region of the tracker \(owner.name)")
            }
            return owner.topic
        }

        /// As `lookUp`.
        ///
        /// - Throws: `Failure` if there is none.
        func region(_ word: String) throws -> (region: Region, topic: String) {
            if let found = try lookUp(word) { return found }
            let known = try owners.flatMap { try regions(of: $0) }
            throw Failure(
                .badData,
                "there is no \(noun) '\(word)'\(hint(for: word, among: known.map(\.rid) + known.map(\.displayName)))")
        }

        func edit(_ changes: [RegionChange], of topic: String, erasingHistoryOf erased: String? = nil) throws {
            if let erased {
                try StoreEditor.edit(directory, of: topic, changes, erasingHistoryOf: erased)
            } else {
                try StoreEditor.edit(directory, of: topic, within: limit) { _ in changes }
            }
            tellWhoServes(topic)
        }

        /// As the other `edit`, for changes that depend on the regions.
        func edit(deciding decide: (RegionSet) -> [RegionChange]) throws {
            try StoreEditor.edit(directory, of: topic, within: limit, deciding: decide)
            tellWhoServes(topic)
        }

        private func tellWhoServes(_ topic: String) {
            guard let reader = try? StoreReader(directory: directory),
                let served = ServedTopics.stored(in: reader),
                !served.contains(where: { $0.hasSameBytes(as: topic) })
            else { return }
            Terminal.printError(
                "the service was last started for \(served.joined(separator: ", ")); this waits until it is started "
                    + "or reloaded with the settings of \(topic): sudo systemctl reload-or-restart ibeacon-gateway")
        }
    }
}
