/// What `tagOverrides` says about one id.
struct RoomAssistantOverride {
    var name: String?
    var batteryMask: (value: UInt32, line: Int, path: String)?
}
