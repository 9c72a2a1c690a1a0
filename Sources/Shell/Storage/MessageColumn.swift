/// The columns of a message, common to the tables `outbox` and `refused`.
protocol MessageColumn: ResultColumn {
    static var id: Self { get }
    static var tracker: Self { get }
    static var topic: Self { get }
    static var qos: Self { get }
    static var retain: Self { get }
    static var kind: Self { get }
    static var payload: Self { get }
    static var boot: Self { get }
    static var happened: Self { get }
    static var stamp: Self { get }
}
