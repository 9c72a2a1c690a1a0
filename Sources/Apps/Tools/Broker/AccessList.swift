import Base
import JSON
import Shell

/// An access list for a broker, in mosquitto's form (`acl_file`): for each user the topics that a service uses.
///
/// Lines for one user are valid below `user NAME`. A line `pattern` is valid for all users, wherever it stands, and `%u` in it is the
/// user's name, which has to be a whole level (mosquitto.conf(5)).
struct AccessList {
    struct Member {
        /// nil: clients without a login.
        let user: String?
        let topics: [UsedTopic]
    }

    let members: [Member]

    /// What all users may do below a level with their own name, with `%u` for it. Only a list of several users has any: the line of
    /// one user would give the right to everybody.
    private var patterns: [UsedTopic] {
        guard members.count > 1, let first = members.first else { return [] }
        let others = members.dropFirst().map { Set(Self.ownTopics($0)) }
        return Self.ownTopics(first).filter { topic in others.allSatisfy { $0.contains(topic) } }
    }

    /// The topics with a level that is the user's name, with `%u` in its place.
    private static func ownTopics(_ member: Member) -> [UsedTopic] {
        member.topics.compactMap { topic in
            guard let text = pattern(of: topic, for: member.user) else { return nil }
            return UsedTopic(topic.access, text, topic.purpose)
        }
    }

    private static func pattern(of topic: UsedTopic, for user: String?) -> String? {
        let levels = topic.pattern.split(separator: "/", omittingEmptySubsequences: false)
        let isUser = { (level: Substring) in level.utf8.elementsEqual((user ?? "").utf8) }
        guard user != nil, levels.contains(where: isUser) else { return nil }
        return levels.map { isUser($0) ? "%u" : $0 }.joined(separator: "/")
    }

    /// The lines of the file, each right with its purpose above it.
    var text: String {
        let patterns = patterns
        let own = Set(patterns)
        var lines: [String] = []
        if !patterns.isEmpty {
            lines.append("# every user, below topics with the user's name")
            lines += Self.lines(patterns) { "pattern \($0.access.rawValue) \($0.pattern)" }
        }
        for member in members {
            if !lines.isEmpty { lines.append("") }
            lines.append(
                member.user.map { "user \($0)" } ?? "# clients without a login; these lines stand above the first user")
            let rest = member.topics.filter { topic in
                guard let text = Self.pattern(of: topic, for: member.user) else { return true }
                return !own.contains(UsedTopic(topic.access, text, topic.purpose))
            }
            lines += Self.lines(rest, \.line)
        }
        return lines.joined(separator: "\n")
    }

    /// One comment for neighbouring topics with one purpose.
    private static func lines(_ topics: [UsedTopic], _ line: (UsedTopic) -> String) -> [String] {
        var lines: [String] = []
        var purpose = ""
        for topic in topics {
            if topic.purpose != purpose { lines.append("# \(topic.purpose)") }
            purpose = topic.purpose
            lines.append(line(topic))
        }
        return lines
    }

    /// Each right of each user, without patterns.
    var json: JSONValue {
        .array(
            members.flatMap { member in
                member.topics.map { topic in
                    [
                        "user": member.user.map(JSONValue.string) ?? .null, "access": .string(topic.access.rawValue),
                        "topic": .string(topic.pattern), "purpose": .string(topic.purpose),
                    ]
                }
            })
    }
}
