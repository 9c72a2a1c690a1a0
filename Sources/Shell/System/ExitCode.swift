/// Exit codes of sysexits.h.
package enum ExitCode: Int32 {
    case ok = 0
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    /// Not now; later the same command can succeed.
    case temporaryFailure = 75
    case noPermission = 77
    case configuration = 78
}
