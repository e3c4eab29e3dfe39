package udp

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxPayload is the longest that one read can bring: UDP's own bound, which a run of datagrams
	// reaches.
	maxPayload = 65535
	// slotSize is maxPayload and a few cache lines: slots that are 64 KiB apart would fight for the
	// same lines.
	slotSize = maxPayload + 1 + 192
	// firstSlots is how many reads the first call with an arena does. Those of a client hardly ever
	// need more.
	firstSlots = 4
	// readBytes is about what one call should bring: more would leave the processor's cache before it
	// is used, and a peer that sends much would wait for acks.
	readBytes = 192 << 10
)

// arena is the buffers of one call of recvmmsg. Sockets share arenas, since a socket needs one only
// while it reads and not while it waits: thousands of sockets have a few of them in all. An arena
// grows when a call has filled it.
//
// Its slots are as long as the longest run, and datagrams of usual size touch the first page of
// one. So their memory comes from the system: on the heap the collector would count two megabytes
// where a few pages are in use, and clear all of it when it was used before.
type arena struct {
	messages []message
	places   []place6
	controls []control
	vectors  []unix.Iovec
	memory   [][]byte // of each slot
	maps     [][]byte // that the slots lie in, but for those that the system had no room for
}

var arenas stock[arena]

// done gives a back after a call.
func (a *arena) done() {
	if arenas.put(a) {
		return
	}
	for _, m := range a.maps {
		_ = unix.Munmap(m) // fails only for what is no map
	}
}

// grow makes n slots of a.
func (a *arena) grow(n int) {
	size := (n - len(a.memory)) * slotSize
	buf, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		a.maps = append(a.maps, buf)
	} else {
		buf = make([]byte, size)
	}
	for ; len(a.memory) < n; buf = buf[slotSize:] {
		a.memory = append(a.memory, buf[:slotSize:slotSize])
	}
	a.messages, a.places = make([]message, n), make([]place6, n)
	a.controls, a.vectors = make([]control, n), make([]unix.Iovec, n)
	for i := range n {
		a.vectors[i].Base = &a.memory[i][0]
		a.vectors[i].SetLen(maxPayload)
		h := &a.messages[i].hdr
		h.Name = (*byte)(unsafe.Pointer(&a.places[i]))
		h.Iov = &a.vectors[i]
		h.SetIovlen(1)
		h.Control = (*byte)(unsafe.Pointer(&a.controls[i]))
		a.prepare(i)
	}
}

// prepare sets what the kernel has written over.
func (a *arena) prepare(i int) {
	h := &a.messages[i].hdr
	h.Namelen = unix.SizeofSockaddrInet6
	h.SetControllen(cmsgSpace)
	h.Flags = 0
}

// tray is the buffer of a read by a socket whose Config.Batch is 1. Sockets share trays as they
// share arenas.
type tray struct {
	place  place6
	memory [MaxDatagram]byte
}

var trays stock[tray]

// reader takes datagrams from the system in batches.
type reader struct {
	s     *Socket
	batch int
	limit int // of the next call
	zones zones
	more  bool
	alone bool   // Config.Batch is 1: one datagram a call, without recvmmsg
	buf   []byte // not nil on a system without recvmmsg

	// Of the call that is being made.
	wait     func(fd uintptr) bool // made once, as glance is
	glance   func(fd uintptr)
	arena    *arena
	n, slots int
	errno    syscall.Errno
	tray     *tray // alone
	length   int   // of the datagram in it
	waited   bool  // the call has found nothing at first
}

func (r *reader) init(s *Socket, c Config, _ options) {
	r.s, r.batch, r.limit, r.alone = s, c.Batch, c.Batch, c.Batch == 1
	r.wait = func(fd uintptr) bool { return !r.call(fd) }
	r.glance = func(fd uintptr) { r.call(fd) }
}

// call reads and reports whether there was nothing.
func (r *reader) call(fd uintptr) (nothing bool) {
	if r.alone {
		return r.callAlone(fd)
	}
	a := arenas.take()
	if len(a.messages) == 0 {
		a.grow(min(firstSlots, r.batch))
	}
	r.slots = min(len(a.messages), r.limit)
	r.n, r.errno = mmsg(unix.SYS_RECVMMSG, fd, a.messages[:r.slots])
	r.s.counts.readCalls.Add(1)
	if r.errno != 0 {
		a.done()
		return r.errno == unix.EAGAIN
	}
	r.arena = a
	return false
}

// callAlone is call for one datagram.
func (r *reader) callAlone(fd uintptr) (nothing bool) {
	t := trays.take()
	r.length, r.errno = receiveOne(fd, t.memory[:], &t.place)
	r.s.counts.readCalls.Add(1)
	if r.errno != 0 {
		trays.put(t)
		r.waited = r.errno == unix.EAGAIN
		return r.waited
	}
	r.tray = t
	return false
}

// read waits for datagrams and hands over those of one call.
func (r *reader) read(f func(netip.AddrPort, []byte)) error {
	if r.buf != nil {
		err := r.s.readSingly(r.buf, f)
		r.more = err == nil
		return err
	}
	r.waited = false
	if err := r.s.raw.Read(r.wait); err != nil {
		return err
	}
	return r.deliver(f)
}

// try is read without waiting.
func (r *reader) try(f func(netip.AddrPort, []byte)) error {
	if r.buf != nil {
		err := r.s.trySingly(r.buf, f)
		r.more = err == nil
		return err
	}
	if err := r.s.raw.Control(r.glance); err != nil {
		return net.ErrClosed
	}
	r.waited = false
	return r.deliver(f)
}

// deliver hands over what the last call has brought, or tells what it failed with.
func (r *reader) deliver(f func(netip.AddrPort, []byte)) error {
	a := r.arena
	r.arena, r.more = nil, false
	switch r.errno {
	case 0:
	case unix.EAGAIN:
		return nil
	case unix.ENOSYS:
		r.singly()
		return nil // the caller reads again, or has got nothing
	default:
		return os.NewSyscallError("recvmmsg", r.errno)
	}
	if r.alone {
		r.deliverAlone(f)
		return nil
	}
	datagrams, bytes, merged, cut := 0, 0, 0, 0
	for i := range r.n {
		m := &a.messages[i]
		length := int(m.n)
		segment := a.controls[i].segment(int(m.hdr.Controllen), length)
		if m.hdr.Flags&unix.MSG_TRUNC != 0 || segment > MaxDatagram {
			cut++
			a.prepare(i)
			continue
		}
		a.prepare(i)
		from := r.zones.get(&a.places[i])
		if segment < length {
			merged++
		}
		for at := 0; ; at += segment {
			end := min(at+segment, length)
			f(from, a.memory[i][at:end:end])
			datagrams++
			if end == length {
				break
			}
		}
		bytes += length
	}
	r.plan(a, bytes)
	a.done()
	c := &r.s.counts
	c.in.Add(uint64(datagrams))
	c.bytesIn.Add(uint64(bytes))
	if merged > 0 {
		c.gro.Add(uint64(merged))
	}
	if cut > 0 {
		c.cut.Add(uint64(cut))
	}
	return nil
}

// plan says whether there may be more after a call that brought so many bytes, and how many reads the
// next one does.
func (r *reader) plan(a *arena, bytes int) {
	r.more, r.limit = r.n == r.slots, r.batch
	if bytes > readBytes {
		r.limit = min(r.batch, max(firstSlots, r.n*readBytes/bytes))
	}
	if r.more && r.slots < r.limit && r.slots == len(a.messages) {
		a.grow(min(2*r.slots, r.batch))
	}
}

// deliverAlone is deliver for one datagram. One that was waited for is taken to be the only one: to
// look for another at once would be a call in vain with nearly each datagram of a client, and the
// next wait looks first as well.
func (r *reader) deliverAlone(f func(netip.AddrPort, []byte)) {
	t := r.tray
	r.tray, r.more = nil, !r.waited
	c := &r.s.counts
	if r.length > MaxDatagram {
		c.cut.Add(1)
	} else {
		c.in.Add(1)
		c.bytesIn.Add(uint64(r.length))
		f(r.zones.get(&t.place), t.memory[:r.length:r.length])
	}
	trays.put(t)
}

// singly goes on without recvmmsg, for good.
func (r *reader) singly() {
	if r.s.plain != nil {
		r.alone = true
	} else {
		r.buf = make([]byte, MaxDatagram+1)
	}
	// What is put together cannot be taken apart without it.
	_ = r.s.raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_GRO, 0) })
}
