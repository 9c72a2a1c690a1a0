/// What people call the things that come and go.
enum PersonalName {
    /// The region that is the home, for a tracker that is a person's.
    private static let home = "Home"

    /// The tracker's name, with the region unless that is the home; without a name, that of the region.
    static func of(region: String, tracker: String?) -> String {
        guard let tracker else { return region }
        return [home, tracker].contains(region) ? tracker : "\(tracker) (\(region))"
    }
}
