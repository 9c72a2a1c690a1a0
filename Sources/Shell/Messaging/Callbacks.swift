import CMosquitto

/// The callbacks are file-scope C functions: a closure would be checked for isolation at run time, on
/// whichever thread it is called, and trap.
enum Callbacks {
    static func install(on client: OpaquePointer, sink: CallbackSink) {
        // Unretained: `Client` owns both and destroys the handle first.
        mosquitto_user_data_set(client, Unmanaged.passUnretained(sink).toOpaque())
        // The v5 callbacks are called for every protocol level.
        mosquitto_connect_v5_callback_set(client, onConnect)
        mosquitto_disconnect_v5_callback_set(client, onDisconnect)
        mosquitto_publish_v5_callback_set(client, onPublish)
        mosquitto_subscribe_v5_callback_set(client, onSubscribe)
        mosquitto_message_callback_set(client, onMessage)
        mosquitto_log_callback_set(client, onLog)
    }
}

private func sink(_ context: UnsafeMutableRawPointer?) -> CallbackSink? {
    let sink = context.map { Unmanaged<CallbackSink>.fromOpaque($0).takeUnretainedValue() }
    sink?.called()
    return sink
}

private func onConnect(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ code: Int32, _ flags: Int32, _ properties: OpaquePointer?
) {
    sink(context)?.connack = .init(
        code: UInt8(clamping: code), sessionPresent: flags & 1 == 1, limits: BrokerLimits(properties))
}

private func onDisconnect(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ code: Int32, _: OpaquePointer?
) {
    // Small numbers here are libmosquitto's own errors, which its calls return as well.
    if code >= 0x80 { sink(context)?.disconnectCode = UInt8(clamping: code) }
}

private func onPublish(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ messageID: Int32, _ code: Int32, _: OpaquePointer?
) {
    sink(context)?.completions.append(.init(messageID: messageID, code: UInt8(clamping: code)))
}

private func onSubscribe(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ messageID: Int32, _ count: Int32,
    _ granted: UnsafePointer<Int32>?, _: OpaquePointer?
) {
    let granted = [Int32](UnsafeBufferPointer(start: granted, count: Int(count)))
    sink(context)?.subacks.append(.init(messageID: messageID, granted: granted))
}

private func onMessage(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<mosquitto_message>?
) {
    guard let message else { return }
    sink(context)?.receive(message.pointee)
}

private func onLog(
    _ client: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ level: Int32, _ text: UnsafePointer<CChar>?
) {
    guard let text, let context else { return }
    // As a rule not an activity: libmosquitto also logs what it sends.
    let sink = Unmanaged<CallbackSink>.fromOpaque(context).takeUnretainedValue()
    if level & Int32(MOSQ_LOG_ERR | MOSQ_LOG_WARNING) != 0 {
        sink.recordComplaint(String(cString: text), from: client)
    } else if level & Int32(MOSQ_LOG_DEBUG) != 0 {
        sink.note(logLine: text)
    }
}
