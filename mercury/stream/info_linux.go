package stream

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tcpHeader is that of a segment with timestamps, which all but the first carry.
const tcpHeader = 20 + 12

// SocketInfo is the Info of a TCP socket, from TCP_INFO.
func SocketInfo(c syscall.Conn) (Info, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Info{}, false
	}
	var t *unix.TCPInfo
	outer := raw.Control(func(fd uintptr) {
		t, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if outer != nil || err != nil {
		return Info{}, false
	}
	return Info{
		RTT:        time.Duration(t.Rtt) * time.Microsecond,
		MinRTT:     time.Duration(t.Min_rtt) * time.Microsecond,
		PacketsOut: uint64(t.Segs_out),
		BytesOut:   t.Bytes_sent + tcpHeader*uint64(t.Segs_out),
		PacketsIn:  uint64(t.Segs_in),
		BytesIn:    t.Bytes_received + tcpHeader*uint64(t.Segs_in),
		Resends:    uint64(t.Total_retrans),
		Lost:       uint64(t.Total_retrans),
		Acked:      t.Bytes_acked,
		Unsent:     int(t.Notsent_bytes),
	}, true
}
