/// When which room was reported, in the order of time; -1: none.
package typealias RoomChange = (time: Double, room: Int)
/// A stay in a room: from when until when, seconds.
package typealias RoomStay = (room: Int, from: Double, to: Double)
