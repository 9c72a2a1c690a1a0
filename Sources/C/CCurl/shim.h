#pragma once
// The part of libcurl's binary interface that is used (libcurl.so.4, whose numbers never change). libcurl is loaded when
// messages go over HTTP, and is not linked: with all that it links it takes 3.6 MB, which those with an MQTT broker need not
// pay. So no header of libcurl's is needed either, which would declare functions to link to.

#include <dlfcn.h>
#include <stddef.h>

enum {
    curl_global_default = 3,
    curl_ok = 0,
    curl_url_malformed = 3,
    curl_proxy_not_resolved = 5,
    curl_host_not_resolved = 6,
    curl_not_connected = 7,
    curl_write_error = 23,
    curl_timed_out = 28,
    curl_tls_handshake_failed = 35,
    curl_tls_engine_missing = 53,
    curl_certificate_unusable = 58,
    curl_tls_cipher = 59,
    curl_peer_not_verified = 60,
    curl_ca_file_unusable = 77,
    curl_tls_issuer = 83,
    curl_client_certificate_wanted = 98,
};

enum {
    curl_option_write_data = 10001,
    curl_option_url = 10002,
    curl_option_error_buffer = 10010,
    curl_option_user_agent = 10018,
    curl_option_headers = 10023,
    curl_option_client_certificate = 10025,
    curl_option_header_data = 10029,
    curl_option_post = 47,
    curl_option_follow_redirects = 52,
    curl_option_body_size = 60,
    curl_option_verify_peer = 64,
    curl_option_ca_file = 10065,
    curl_option_verify_host = 81,
    curl_option_http_version = 84,
    curl_option_client_key = 10087,
    curl_option_ca_directory = 10097,
    curl_option_no_signal = 99,
    curl_option_authentication = 107,
    curl_option_timeout_ms = 155,
    curl_option_connect_timeout_ms = 156,
    curl_option_copied_body = 10165,
    curl_option_username = 10173,
    curl_option_password = 10174,
    curl_option_protocols = 181,
    curl_option_write_function = 20011,
    curl_option_header_function = 20079,
    // Since 7.87; an older one refuses it, and then a name look-up may hold up the end.
    curl_option_quick_exit = 322,
};

enum { curl_error_size = 256, curl_http_1_1 = 2, curl_basic = 1, curl_http_and_https = 3 };
enum { curl_info_status = 0x200002 };

typedef size_t (*curl_writer)(char *data, size_t size, size_t count, void *context);

// What curl_multi_poll watches beside its own descriptors.
struct curl_watched {
    int descriptor;
    short events;
    short happened;
};
enum { curl_watch_readable = 1 };

// What curl_multi_info_read tells: a transfer is done, with its result.
struct curl_message {
    int kind;
    void *easy;
    union {
        void *anything;
        int result;
    } data;
};
enum { curl_message_done = 1 };

// libcurl's functions, once it is loaded.
struct curl_functions {
    int (*global_init)(long flags);
    char *(*version)(void);
    const char *(*describe)(int code);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *easy);
    void *(*list_append)(void *list, const char *text);
    void (*list_free)(void *list);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *multi);
    int (*multi_add)(void *multi, void *easy);
    int (*multi_remove)(void *multi, void *easy);
    int (*multi_perform)(void *multi, int *running);
    int (*multi_poll)(void *multi, struct curl_watched *watched, unsigned count, int milliseconds, int *ready);
    struct curl_message *(*multi_next_message)(void *multi, int *left);
    // These have variable arguments.
    void *set_option;
    void *get_info;
};

// Loads libcurl, and leaves it loaded: with OpenSSL, which libmosquitto has loaded already, or else with GnuTLS.
// Returns 0; or -1 if there is none; or -2 if it lacks a function, being older than 7.66.
static inline int curl_load(struct curl_functions *functions) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    struct {
        const char *name;
        void **place;
    } wanted[] = {
        {"curl_global_init", (void **)&functions->global_init},
        {"curl_version", (void **)&functions->version},
        {"curl_easy_strerror", (void **)&functions->describe},
        {"curl_easy_init", (void **)&functions->easy_init},
        {"curl_easy_cleanup", (void **)&functions->easy_cleanup},
        {"curl_slist_append", (void **)&functions->list_append},
        {"curl_slist_free_all", (void **)&functions->list_free},
        {"curl_multi_init", (void **)&functions->multi_init},
        {"curl_multi_cleanup", (void **)&functions->multi_cleanup},
        {"curl_multi_add_handle", (void **)&functions->multi_add},
        {"curl_multi_remove_handle", (void **)&functions->multi_remove},
        {"curl_multi_perform", (void **)&functions->multi_perform},
        {"curl_multi_poll", (void **)&functions->multi_poll},
        {"curl_multi_info_read", (void **)&functions->multi_next_message},
        {"curl_easy_setopt", &functions->set_option},
        {"curl_easy_getinfo", &functions->get_info},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!(*wanted[i].place = dlsym(library, wanted[i].name))) return -2;
    return 0;
}

typedef int (*curl_variadic)(void *easy, int option, ...);

static inline int curl_set_number(void *set_option, void *easy, int option, long value) {
    return ((curl_variadic)set_option)(easy, option, value);
}
static inline int curl_set_text(void *set_option, void *easy, int option, const char *text) {
    return ((curl_variadic)set_option)(easy, option, text);
}
static inline int curl_set_pointer(void *set_option, void *easy, int option, void *pointer) {
    return ((curl_variadic)set_option)(easy, option, pointer);
}
// The functions that get the body and each line of the header.
static inline int curl_set_receivers(void *set_option, void *easy, curl_writer body, curl_writer header, void *context) {
    int result = curl_set_pointer(set_option, easy, curl_option_write_data, context);
    if (!result) result = curl_set_pointer(set_option, easy, curl_option_header_data, context);
    if (!result) result = ((curl_variadic)set_option)(easy, curl_option_write_function, body);
    return result ? result : ((curl_variadic)set_option)(easy, curl_option_header_function, header);
}
static inline long curl_status(void *get_info, void *easy) {
    long status = 0;
    return ((curl_variadic)get_info)(easy, curl_info_status, &status) ? 0 : status;
}
