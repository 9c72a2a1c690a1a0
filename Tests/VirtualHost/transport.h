/* How the emulated controller reaches the kernel: HCI packets, each with its H4 packet indicator (Core Specification,
 * volume 4, part A) as the first octet.
 *
 * /dev/vhci is the kernel's own driver for a controller in user space. Debian's kernels for arm64 do not have it. There
 * the controller is a UART instead: a pseudo terminal with the line discipline that serves real UART controllers
 * (hci_uart). A UART is a stream, so a cut packet takes its missing octets from the next one.
 */
#include <sys/ioctl.h>
#include <termios.h>

enum { PACKET_COMMAND = 1, PACKET_ACL = 2, PACKET_SCO = 3, PACKET_EVENT = 4, PACKET_VENDOR = 0xff };

/* linux/tty.h and drivers/bluetooth/hci_uart.h; the kernel exports neither to programs. */
enum { LINE_DISCIPLINE_HCI = 15, UART_PROTOCOL_H4 = 0 };
#define HCIUARTSETPROTO _IOW('U', 200, int)
#define HCIUARTGETDEVICE _IOR('U', 202, int)

/* What the kernel is told of a controller on /dev/vhci (drivers/bluetooth/hci_vhci.c): nothing in particular, that it is to be
 * configured by its maker's program, or that the kernel is not to use it. */
static uint8_t vhci_kind;
enum { VHCI_UNCONFIGURED = 0x40, VHCI_RAW = 0x80 };

static int host;
static bool host_is_stream;

static void say(const char *format, ...);
static void die(int status, const char *what);

static void open_uart(void)
{
    int unlocked = 0, discipline = LINE_DISCIPLINE_HCI, terminal;
    struct termios raw;
    if ((host = open("/dev/ptmx", O_RDWR | O_NOCTTY)) < 0 || ioctl(host, TIOCSPTLCK, &unlocked) < 0 ||
        (terminal = ioctl(host, TIOCGPTPEER, O_RDWR | O_NOCTTY)) < 0)
        die(2, "pseudo terminal");
    tcgetattr(terminal, &raw);
    cfmakeraw(&raw);
    tcsetattr(terminal, TCSANOW, &raw);
    if (ioctl(terminal, TIOCSETD, &discipline) < 0)
        die(2, "line discipline of hci_uart");
    if (ioctl(terminal, HCIUARTSETPROTO, UART_PROTOCOL_H4) < 0)
        die(2, "HCIUARTSETPROTO");
    /* The terminal stays open: the adapter is there for as long as it is. */
    host_is_stream = true;
    say("controller hci%d on a UART", ioctl(terminal, HCIUARTGETDEVICE, 0));
}

static void host_open(void)
{
    const uint8_t create[] = {PACKET_VENDOR, vhci_kind};
    if ((host = open("/dev/vhci", O_RDWR)) >= 0) {
        if (write(host, create, sizeof create) != sizeof create)
            die(2, "write /dev/vhci");
    } else if (errno == ENOENT || errno == ENODEV) {
        open_uart();
    } else {
        die(2, "/dev/vhci");
    }
}

static void put(const uint8_t *bytes, int length)
{
    int done = 0;
    while (done < length) {
        int n = write(host, bytes + done, length - done);
        if (n >= 0)
            done += n;
        else if (errno == ENXIO) /* the kernel has the adapter down and takes nothing */
            return;
        else if (errno != EAGAIN && errno != EINTR)
            die(2, "write to the host");
    }
}

/* The length of the packet that the bytes begin with, or of the header that is to be there before it can be told. */
static int packet_length(const uint8_t *bytes, int count)
{
    switch (bytes[0]) {
    case PACKET_COMMAND:
    case PACKET_SCO: return count < 4 ? 4 : 4 + bytes[3];
    case PACKET_ACL: return count < 5 ? 5 : 5 + (bytes[3] | bytes[4] << 8);
    default: say("packet of unknown type %d from the host", bytes[0]); exit(2);
    }
}

/* Reads what the host has sent and gives each packet to `take`. */
static void host_read(void (*take)(const uint8_t *packet, int length))
{
    static uint8_t held[8192];
    static int count;
    int length, n = read(host, held + count, sizeof held - count);
    if (n < 0 && errno != EAGAIN)
        die(2, "read from the host");
    if (n <= 0)
        return;
    if (!host_is_stream) {
        take(held, n);
        return;
    }
    count += n;
    while (count > 0 && (length = packet_length(held, count)) <= count) {
        take(held, length);
        memmove(held, held + length, count -= length);
    }
}
