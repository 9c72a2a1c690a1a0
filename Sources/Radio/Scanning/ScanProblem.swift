import Beacon

/// Why no adapter can be used, and what to do. It is the same in the log, in `status` and in `doctor`.
package struct ScanProblem: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and where, in a sentence.
    package let text: String
    /// What a person can do.
    package let remedy: String

    package init(_ text: String, remedy: String) {
        self.text = text
        self.remedy = remedy
    }

    package var description: String { "\(text); \(remedy)" }
}

extension AdapterSelection {
    /// The names in this selection that no adapter has, as the setting `adapter` has them; none for `all`.
    package func names(missingFrom present: [PresentAdapter]) -> [String] {
        switch self {
        case .all: []
        case .index(let index): present.contains { $0.index == index } ? [] : ["hci\(index)"]
        case .address(let value):
            present.contains { $0.address?.value == value } ? [] : ["\(DeviceAddress(value: value, isRandom: false))"]
        case .anyOf(let selections): selections.flatMap { $0.names(missingFrom: present) }
        }
    }

    /// Whether this adapter is selected. One without a known address is, if its number is.
    package func includes(_ adapter: PresentAdapter) -> Bool {
        includes(index: adapter.index, address: adapter.address ?? DeviceAddress(value: 0, isRandom: false))
    }

    /// What is wrong with the adapters that are there, if they do not have all the names of this selection.
    ///
    /// - Returns: nil if there is an adapter for each name, or, without names, any adapter.
    package func problem(among present: [PresentAdapter]) -> ScanProblem? {
        let missing = names(missingFrom: present)
        guard !present.isEmpty else {
            let named = missing.isEmpty ? "" : "; the setting 'adapter' names \(missing.joined(separator: ", "))"
            return ScanProblem(
                "there is no Bluetooth adapter\(named)", remedy: "plug one in; rfkill list shows blocked ones")
        }
        guard !missing.isEmpty else { return nil }
        let (adapters, verb) = missing.count == 1 ? ("the adapter", "is") : ("the adapters", "are")
        return ScanProblem(
            "\(adapters) \(missing.joined(separator: ", ")) of the setting 'adapter' \(verb) not there; "
                + "there \(present.count == 1 ? "is" : "are") \(present.map(\.description).joined(separator: ", "))",
            remedy: "name one that is there in \"adapter\", by its address, which stays when its number changes; "
                + "or remove the setting, to use every adapter")
    }
}
