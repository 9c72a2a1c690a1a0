import CSystemd
import System

// Each class owns one sd_event_source. The source's userdata points back unretained: the source cannot outlive the
// object, because deinit disables and releases it, and sd-event calls no disabled source. A handler may release its own
// watch: the callback has a strong reference while it runs.

func putLast(_ source: OpaquePointer?) throws(SystemError) {
    try checked(
        "sd_event_source_set_priority", sd_event_source_set_priority(source, Int64(SD_EVENT_PRIORITY_IDLE)))
}
