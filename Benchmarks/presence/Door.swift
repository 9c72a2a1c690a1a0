struct DoorTruth { init(path: String) {} }
func reportDoor(_ trace: Trace, truth: DoorTruth) {}
