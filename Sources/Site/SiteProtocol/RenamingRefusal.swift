/// Why a room cannot get another name when a person says so.
package enum RenamingRefusal: Hashable, Sendable {
    case noRoom, sameRoom
    /// These gateways stand in the room, and none that stood in it names the other.
    case named(by: [String])
    case notTrained
    /// Two trainings are not merged: what was trained under two names is of two places.
    case otherIsTrained
}
