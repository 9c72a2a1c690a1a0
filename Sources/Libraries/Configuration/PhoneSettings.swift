/// Members that OwnTracks' apps export and that mean nothing to a gateway. They are accepted silently, so that an
/// exported `.otrc` loads without changes.
enum PhoneSettings {
    static let names: Set<String> = connection.union(tracking).union(interface)

    /// Other ways to a server, and subscriptions: a gateway reads only its own `/cmd`.
    private static let connection: Set<String> = [
        "connectionTimeoutSeconds", "dontReuseHttpClient", "httpHeaders", "httpSchedulerConsiderStrategyDirect",
        "policymode", "pubQosEvents", "pubQosLocations", "pubQosWaypoints", "pubRetainEvents",
        "pubRetainLocations", "pubRetainWaypoints", "quickstart", "sub", "subQos", "subTopic",
        "usepolicy", "validatecertificatechain", "validatedomainname", "willQos", "willRetain", "willTopic",
        "willPayload",
    ]

    /// How a phone finds its position, and what it publishes about itself.
    private static let tracking: Set<String> = [
        "adapt", "allowRemoteLocation", "autostartOnBoot", "autostart", "discardNetworkLocationThresholdSeconds",
        "downgrade", "extendedData", "fusedRegionDetection", "ignoreInaccurateLocations", "ignoreStaleLocations",
        "locatorAccuracyBackground", "locatorAccuracyForeground", "locatorDisplacement", "locatorPriority",
        "maxHistory", "moveModeLocatorInterval", "pegLocatorFastestIntervalToInterval",
        "positions", "pubExtendedData", "publishLocationOnConnect", "pubInterval", "significantChangesOnly",
    ]

    /// Screens, maps and the address book.
    private static let interface: Set<String> = [
        "allowConfigurationByURIAndConfigFile", "allowIntentControl", "appLocale", "debugLog", "enableMapRotation",
        "experimentalFeatures", "geocodeEnabled", "geocoderEnabled", "info", "intentAuthKey", "isSetupCompleted",
        "locked", "mapLayerStyle", "notification", "notificationEvents", "notificationGeocoderErrors",
        "notificationHigherPriority", "notificationLocation", "notificationTickerOnReceivedMessage",
        "notificationTickerOnWaypointTransition", "opencageApiKey", "osmCopyright", "osmTemplate",
        "osmTileScaleFactor", "pubIncludeBattery", "reverseGeocodeProvider", "setupCompleted", "showRegionsOnMap",
        "theme", "updateAddressBook", "useCustomLocale", "userDeclinedEnableBackgroundLocationPermissions",
        "userDeclinedEnableLocationPermissions", "userDeclinedEnableLocationServices",
        "userDeclinedEnableNotificationPermissions",
    ]
}
