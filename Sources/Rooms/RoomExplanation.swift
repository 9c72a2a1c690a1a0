extension RoomEngine {
    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag tag: Int) -> [(room: RoomName, probability: Float)] {
        guard states.indices.contains(tag) else { return [] }
        return states[tag].belief.map { (rooms[Int($0.room)].name, $0.probability) }
    }
}
