import Base
import Beacon
import JSON
import OwnTracks

/// Takes members out of one object of the configuration, and collects the errors.
///
/// A reader gives nil for a member that is missing (or null, or an empty string, as phones export what is not set), and
/// for an invalid one. In both cases the default is used, so that all problems are found together.
struct MemberReader {
    /// The prefix of members' names in messages, such as `trackers[1].`.
    let path: String
    let members: [String: JSONValue]
    /// Members that come from the top level, where their problems are reported.
    let inherited: Set<String>
    /// How the files that members name are read.
    let files: ConfigurationFiles
    private(set) var problems: [ConfigurationProblem] = []

    init(
        _ members: [String: JSONValue], files: ConfigurationFiles, path: String = "", inherited: Set<String> = []
    ) {
        self.members = members
        self.files = files
        self.path = path
        self.inherited = inherited
    }

    mutating func complain(_ name: String, _ reason: String) {
        guard !inherited.contains(name) else { return }
        problems.append(ConfigurationProblem(member: path + name, reason: reason))
    }

    /// Adds the problems that a reader of an inner object found.
    mutating func add(_ other: [ConfigurationProblem]) {
        problems += other
    }

    func value(_ name: String) -> JSONValue? {
        switch members[name] {
        case nil, .null, .string(""): nil
        case let value?: value
        }
    }

    mutating func text(_ name: String, isSecret: Bool = false) -> String? {
        guard let value = value(name) else { return nil }
        switch value {
        case .string(let text) where !text.unicodeScalars.contains("\0"): return text
        // A user or device may be called 1. Nobody should have to quote a number.
        case .integer(let number): return String(number)
        default:
            complain(name, "\(isSecret ? "this" : value.shortened) does not fit; write a text in quotes")
            return nil
        }
    }

    /// A secret as the member `name`, or in the file that the member `nameFile` names.
    ///
    /// - Parameters:
    ///   - mostBytes: The longest secret.
    ///   - readsFile: false: a file is not read, and gives no secret.
    mutating func secret(_ name: String, mostBytes: Int = .max, readsFile: Bool = true) -> SecretSetting {
        let fileName = "\(name)File"
        let inline = secretText(name)
        let path = text(fileName)
        if let inline {
            if path != nil { complain(fileName, "it is given together with \(name); give one of the two") }
            checkLength(of: inline, name, mostBytes)
            return .inline(inline)
        }
        guard let path, readsFile else { return .absent }
        do throws(ConfigurationFiles.Problem) {
            let secret = try files.secret(path)
            checkLength(of: secret, fileName, mostBytes)
            return .file(path: path, secret: secret)
        } catch {
            complain(fileName, error.reason)
            return .absent
        }
    }

    private mutating func checkLength(of secret: Secret, _ name: String, _ mostBytes: Int) {
        guard secret.byteCount > mostBytes else { return }
        complain(name, "it has \(secret.byteCount) bytes; at most \(mostBytes) are allowed")
    }

    private mutating func secretText(_ name: String) -> Secret? {
        guard let text = text(name, isSecret: true) else { return nil }
        guard text != Secret.mask else {
            complain(name, "this is the placeholder of a hidden secret from a dump; write the secret itself, or null")
            return nil
        }
        return Secret(text)
    }

    mutating func flag(_ name: String) -> Bool? {
        read(name, "true or false") { $0.asBool }
    }

    mutating func whole(_ name: String, _ range: ClosedRange<Int64>, _ note: String = "") -> Int? {
        read(name, "a whole number from \(range.lowerBound) to \(range.upperBound)\(note)") {
            $0.asInteger.flatMap { range.contains($0) ? Int(exactly: $0) : nil }
        }
    }

    mutating func number(_ name: String, _ range: ClosedRange<Double>, _ note: String = "") -> Double? {
        read(name, "a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))\(note)") {
            $0.asNumber.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func rssi(_ name: String) -> RSSI? {
        read(name, RSSI.allowed) { RSSI($0) }
    }

    /// The result of `convert` for the value. If it is nil, that is a problem.
    mutating func read<T>(_ name: String, _ allowed: String, _ convert: (JSONValue) -> T?) -> T? {
        guard let value = value(name) else { return nil }
        guard let converted = convert(value) else {
            complain(name, "\(value.shortened) does not fit; write \(allowed)")
            return nil
        }
        return converted
    }

    /// An inner object; nil if it is missing.
    mutating func inner(_ name: String, _ allowed: String) -> MemberReader? {
        read(name, allowed) { $0.object }.map { MemberReader($0, files: files, path: "\(path)\(name).") }
    }

    /// Adds a problem for every member that is in none of the lists.
    ///
    /// - Parameters:
    ///   - known: The members that are read here.
    ///   - ignored: The members that are accepted silently.
    ///   - topLevel: The members that exist at the top level only.
    mutating func refuseUnknown(
        known: some Sequence<String>, ignored: Set<String> = [], topLevel: Set<String> = []
    ) {
        let known = Set(known)
        // A leading underscore marks what devices say about a message itself (`_id`, `_build`).
        let unknown = members.keys.filter { !known.contains($0) && !ignored.contains($0) && !$0.hasPrefix("_") }
        for name in unknown.sorted() {
            let shown = shortened(name)
            guard !topLevel.contains(name) else {
                problems.append(
                    ConfigurationProblem(member: path + shown, reason: "it can only be set at the top level"))
                continue
            }
            problems.append(
                ConfigurationProblem(
                    member: path + shown, reason: "there is no such setting\(hint(for: name, among: known.sorted()))"))
        }
    }

    private func plain(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
