package import Scanning

/// How the gateway appears to the phone, and where.
package struct EnrolmentAppearance: Sendable {
    /// What the phone's list of devices shows.
    let name: String
    let profile: AccessoryProfile
    let selection: AdapterSelection

    package init(name: String, profile: AccessoryProfile, selection: AdapterSelection) {
        (self.name, self.profile, self.selection) = (name, profile, selection)
    }
}
