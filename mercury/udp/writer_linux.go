package udp

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sheaf is the arrays of one call of sendmmsg. Sockets share sheaves as they share arenas.
type sheaf struct {
	messages []message
	places   []place6
	controls []control
	vectors  []unix.Iovec
}

var sheaves stock[sheaf]

// fit makes room for n messages.
func (s *sheaf) fit(n int) {
	if len(s.messages) >= n {
		return
	}
	s.messages, s.places, s.controls = make([]message, n), make([]place6, n), make([]control, n)
}

// writer gives datagrams to the system in batches.
type writer struct {
	s      *Socket
	batch  int
	wide   bool
	zones  zones
	single bool // a system without sendmmsg

	// Of the call that is being made.
	wait     func(fd uintptr) bool // made once, as try is
	try      func(fd uintptr)
	sheaf    *sheaf
	n, sent  int
	errno    syscall.Errno
	datagram []byte // one alone, to place; nil: what the sheaf holds
	place    place6
	length   uint32 // of place
}

func (w *writer) init(s *Socket, c Config, o options) {
	w.s, w.batch, w.wide = s, c.Batch, o.wide
	w.wait = func(fd uintptr) bool {
		w.call(fd)
		return w.errno != unix.EAGAIN
	}
	w.try = w.call
}

func (w *writer) call(fd uintptr) {
	if w.datagram != nil {
		w.errno = sendOne(fd, w.datagram, &w.place, w.length)
		w.sent = 1
	} else {
		w.sent, w.errno = mmsg(unix.SYS_SENDMMSG, fd, w.sheaf.messages[:w.n])
	}
	w.s.counts.writeCalls.Add(1)
}

// do makes a call. With wait it waits for room until the write deadline; without, it spares the
// runtime's poller, which only a wait needs.
func (w *writer) do(wait bool) error {
	w.errno = 0
	var err error
	if wait {
		err = w.s.raw.Write(w.wait)
	} else if w.s.raw.Control(w.try) != nil {
		err = net.ErrClosed
	}
	if err == nil && w.errno != 0 {
		err = w.errno
	}
	return err
}

// write writes the first runs that are left and moves q.done past those that the system took. An
// error is about the first that is left then. With wait it waits for room until the write deadline.
func (w *writer) write(q *queue, wait bool) error {
	alone := q.runs[q.done].count == 1
	switch {
	case w.single && w.s.plain == nil:
		return w.s.writeSingly(q)
	case w.single && !alone:
		q.gsoRefused(true, false)
		return nil
	case alone && (w.single || len(q.runs)-q.done == 1):
		return w.writeOne(q, wait)
	}
	w.n = min(len(q.runs)-q.done, w.batch)
	w.sheaf = sheaves.take()
	err := w.fill(q)
	if err == nil {
		err = w.do(wait)
	}
	clear(w.sheaf.vectors) // they keep the slab alive
	w.sheaf.vectors = w.sheaf.vectors[:0]
	sheaves.put(w.sheaf)
	w.sheaf = nil
	switch err {
	case nil:
		w.took(q)
	case unix.ENOSYS:
		w.singly()
		return nil
	}
	return err
}

// writeOne writes a datagram alone, which is all that a client mostly has to say, without the
// description of a batch that the kernel would have to copy.
func (w *writer) writeOne(q *queue, wait bool) error {
	r := &q.runs[q.done]
	if w.length = w.zones.put(&w.place, r.to, w.wide); w.length == 0 {
		return unix.EAFNOSUPPORT
	}
	it := q.items[r.first]
	w.datagram = q.slab[it.start:it.end]
	err := w.do(wait)
	w.datagram = nil // it keeps the slab alive
	if err == nil {
		w.took(q)
	}
	return err
}

// fill describes the first w.n runs that are left, or fewer when one of them cannot be written.
func (w *writer) fill(q *queue) error {
	a := w.sheaf
	a.fit(w.n)
	total := 0
	for i := range q.runs[q.done : q.done+w.n] {
		total += int(q.runs[q.done+i].count)
	}
	if cap(a.vectors) < total { // it must not move once it is pointed into
		a.vectors = make([]unix.Iovec, 0, total)
	}
	for i := range w.n {
		r := &q.runs[q.done+i]
		h := &a.messages[i].hdr
		*h = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&a.places[i]))}
		h.Namelen = w.zones.put(&a.places[i], r.to, w.wide)
		if h.Namelen == 0 {
			if w.n = i; i == 0 {
				return unix.EAFNOSUPPORT
			}
			return nil
		}
		first := len(a.vectors)
		a.gather(q, r)
		h.Iov = &a.vectors[first]
		h.SetIovlen(len(a.vectors) - first)
		if r.count > 1 {
			a.controls[i].setSegment(r.size)
			h.Control = (*byte)(unsafe.Pointer(&a.controls[i]))
			h.SetControllen(cmsgSpace)
		}
	}
	return nil
}

// gather appends the bytes of a run, those that lie side by side as one.
func (a *sheaf) gather(q *queue, r *run) {
	for at := r.first; at >= 0; {
		it := q.items[at]
		start, end := it.start, it.end
		for it.next >= 0 && q.items[it.next].start == end {
			it = q.items[it.next]
			end = it.end
		}
		v := unix.Iovec{Base: &q.slab[start]}
		v.SetLen(int(end - start))
		a.vectors = append(a.vectors, v)
		at = it.next
	}
}

// took counts what the last call has sent.
func (w *writer) took(q *queue) {
	datagrams, bytes, runs := uint64(0), uint64(0), uint64(0)
	for i := range q.runs[q.done : q.done+w.sent] {
		r := &q.runs[q.done+i]
		datagrams += uint64(r.count)
		bytes += uint64(r.bytes)
		if r.count > 1 {
			runs++
		}
	}
	q.done += w.sent
	c := &w.s.counts
	c.out.Add(datagrams)
	c.bytesOut.Add(bytes)
	if runs > 0 {
		c.gso.Add(runs)
	}
}

// singly goes on without sendmmsg, for good.
func (w *writer) singly() { w.single, w.s.queue.gso = true, false }
