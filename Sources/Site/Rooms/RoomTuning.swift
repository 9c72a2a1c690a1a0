/// The tuned constants of the room engine, by the part that they belong to. Each part's type gives the reason of each constant. One
/// set serves all homes.
///
/// `Benchmarks/rooms` measures the effect of a change.
package struct RoomTuning: Hashable, Sendable {
    package var hearing = HearingTuning()
    package var silence = SilenceTuning()
    package var movement = MovementTuning()
    package var course = LevelCourseTuning()
    package var observation = ObservationTuning()
    package var transition = TransitionTuning()
    package var floors = FloorTuning()
    package var report = ReportTuning()
    package var learning = LearningTuning()
    package var prints = FingerprintTuning()
    package var levels = RoomLevelsTuning()
    package var surveyed = SurveyedTuning()

    package init() {}
}
