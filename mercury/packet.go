package mercury

import (
	"encoding/binary"
	"github.com/cellscape/cellscape/internal/codec"
	"hash/crc32"
)

// packetKind is the lower half of a handshake packet's first byte; the upper half distinguishes
// packets of data.
type packetKind uint8

const (
	kindOpen      packetKind = 1 + iota // dialler: may I
	kindChallenge                       // answer to an open when there are many: show that you can hear me
	kindAccept                          // answer to an open: here is your pass
	kindFirst                           // data of a dialler that does not know the acceptor's channel yet, with its pass
	kindRefuse                          // answer to an open or a first that cannot be
	kindReset                           // answer to data of an unknown channel
	kindData                            // frames of a channel
)

const (
	packetVersion = 2
	// handshakeBits and dataBits are the upper bits of the first byte.
	handshakeBits = 0xC0
	dataBits      = 0x40

	// prefixSize: kind, version, checksum.
	prefixSize = 1 + 1 + 4
	cookieSize = 16
	// openSize is the size of every open. An answer must not be longer, so that nobody can be
	// flooded through us.
	openSize      = 280
	bindSize      = 4 + 4 + 4 + 4
	openFixed     = prefixSize + bindSize + cookieSize + 1
	challengeSize = prefixSize + 4 + 4 + cookieSize
	acceptFixed   = prefixSize + 4 + 4 + 4 + 4 + 1
	refuseSize    = prefixSize + 4 + 4 + 4 + 1 + 4
	resetSize     = prefixSize + 4 + 8 + 4 + 1
	// firstFixed is the header of a first without its pass: kind, version, bind, length of the
	// pass, number, checksum of the header.
	firstFixed = 1 + 1 + bindSize + 1 + 4 + 4
	// checksumSize is the trailer of data packets without a Guard.
	checksumSize = 4
	// maxHeader of a data packet: kind, channel, number.
	maxHeader = 1 + 5 + 4
	// minEliciting is the least size of a packet that asks for an ack. So a reset, for one that
	// finds no channel, and a challenge, for one from a new address, never have more bytes than the
	// stranger has sent.
	minEliciting = maxHeader + pathFrameSize + 16

	// maxNumber is the last packet number: 2^48 last 8900 years at a thousand packets a second.
	maxNumber = 1<<48 - 1
)

// An answer is never larger than its cause, and a hello has room; otherwise these do not compile.
const (
	_ = uint(openSize - openFixed - MaxHello)
	_ = uint(openSize - challengeSize)
	_ = uint(openSize - acceptFixed - MaxReply)
	_ = uint(openSize - refuseSize)
	_ = uint(firstFixed + cookieSize - refuseSize)
	_ = uint(minEliciting - resetSize - 1)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// beginPacket appends the prefix of a packet of the handshake, its checksum still open.
func beginPacket(b []byte, kind packetKind) []byte {
	return append(b, handshakeBits|byte(kind), packetVersion, 0, 0, 0, 0)
}

// sealPacket writes the checksum of the handshake packet p.
func sealPacket(p []byte) { binary.LittleEndian.PutUint32(p[2:], checksum(p)) }

// checksum covers all of a packet of the handshake but the checksum itself.
func checksum(p []byte) uint32 {
	return crc32.Update(crc32.Checksum(p[:2], castagnoli), castagnoli, p[prefixSize:])
}

// bind is what the packets of a handshake say in the clear about the new channel.
type bind struct {
	Salt   uint32    // of the dialler
	Dial   ChannelID // the dialler's channel, which distinguishes its dials
	Want   uint32    // the salt that must answer, 0 for any
	Window uint32    // what the dialler can hold, in packets
}

func (o *bind) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, o.Salt)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.Dial))
	b = binary.LittleEndian.AppendUint32(b, o.Want)
	return binary.LittleEndian.AppendUint32(b, o.Window)
}

func (o *bind) read(r *codec.Reader) {
	o.Salt, o.Dial, o.Want, o.Window = r.U32(), ChannelID(r.U32()), r.U32(), r.U32()
	if o.Salt == 0 || o.Dial == 0 || o.Window < MinWindow || o.Window > MaxWindow {
		r.Fail(codec.ErrValue)
	}
}

// openPacket asks for a channel.
type openPacket struct {
	bind
	Cookie [cookieSize]byte // of a challenge, or zero
	Hello  []byte
}

func (o *openPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindOpen)
	b = o.bind.append(b)
	b = append(b, o.Cookie[:]...)
	b = append(b, byte(len(o.Hello)))
	b = append(b, o.Hello...)
	for len(b) < start+openSize {
		b = append(b, 0)
	}
	sealPacket(b[start:])
	return b
}

func (o *openPacket) parse(p []byte) error {
	r := codec.NewReader(p[prefixSize:])
	o.read(&r)
	copy(o.Cookie[:], r.Take(cookieSize))
	o.Hello = r.Take(int(r.U8()))
	r.Take(r.Len())
	return r.Close()
}

// challengePacket hands out the cookie that proves a dialler's address.
type challengePacket struct {
	Dial   ChannelID
	Salt   uint32 // of the dialler: nobody else knows it yet
	Cookie [cookieSize]byte
}

func (c *challengePacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindChallenge)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Dial))
	b = binary.LittleEndian.AppendUint32(b, c.Salt)
	b = append(b, c.Cookie[:]...)
	sealPacket(b[start:])
	return b
}

func (c *challengePacket) parse(p []byte) error {
	r := codec.NewReader(p[prefixSize:])
	c.Dial, c.Salt = ChannelID(r.U32()), r.U32()
	copy(c.Cookie[:], r.Take(cookieSize))
	return r.Close()
}

// acceptPacket hands out the pass that opens a channel: a cookie or, with a Guard, the Guard's
// reply, which contains one.
type acceptPacket struct {
	Dial   ChannelID
	Salt   uint32 // of the dialler
	Self   uint32 // of the acceptor
	Window uint32
	Reply  []byte
}

func (a *acceptPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindAccept)
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Dial))
	b = binary.LittleEndian.AppendUint32(b, a.Salt)
	b = binary.LittleEndian.AppendUint32(b, a.Self)
	b = binary.LittleEndian.AppendUint32(b, a.Window)
	b = append(b, byte(len(a.Reply)))
	b = append(b, a.Reply...)
	sealPacket(b[start:])
	return b
}

func (a *acceptPacket) parse(p []byte) error {
	r := codec.NewReader(p[prefixSize:])
	a.Dial, a.Salt, a.Self, a.Window = ChannelID(r.U32()), r.U32(), r.U32(), r.U32()
	a.Reply = r.Take(int(r.U8()))
	if a.Self == 0 || a.Window < MinWindow || a.Window > MaxWindow {
		r.Fail(codec.ErrValue)
	}
	return r.Close()
}

// refusal says why a channel cannot be.
type refusal uint8

const (
	refusedSalt  refusal = 1 + iota // another start is here
	refusedFull                     // MaxChannels reached
	refusedGone                     // this dial was accepted and has ended already
	refusedPass                     // the pass is not good, or not any more
	refusedHello                    // there is a Guard here, and the hello is not for its key, or missing
	refusedClear                    // there is no Guard here that could answer a hello
)

// refusePacket ends a dial, or its pass.
type refusePacket struct {
	Dial ChannelID
	Salt uint32 // of the dialler
	Self uint32 // of the acceptor
	Why  refusal
	Pass uint32 // passTag of the refused pass or hello, so that a late answer to an old one does not end the present handshake
}

func (f *refusePacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindRefuse)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Dial))
	b = binary.LittleEndian.AppendUint32(b, f.Salt)
	b = binary.LittleEndian.AppendUint32(b, f.Self)
	b = append(b, byte(f.Why))
	b = binary.LittleEndian.AppendUint32(b, f.Pass)
	sealPacket(b[start:])
	return b
}

func (f *refusePacket) parse(p []byte) error {
	r := codec.NewReader(p[prefixSize:])
	f.Dial, f.Salt, f.Self, f.Why = ChannelID(r.U32()), r.U32(), r.U32(), refusal(r.U8())
	f.Pass = r.U32()
	if f.Why < refusedSalt || f.Why > refusedClear {
		r.Fail(codec.ErrValue)
	}
	return r.Close()
}

// resetPacket repeats the end of a data packet that found no channel of its sender, and says who is
// here instead.
type resetPacket struct {
	Channel ChannelID // that the refused packet was addressed to
	Tag     uint64    // its last eight bytes, which only those know who have seen it
	Self    uint32
	Taken   bool // a channel of that number is here, with somebody else
}

func (s *resetPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindReset)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Channel))
	b = binary.LittleEndian.AppendUint64(b, s.Tag)
	b = binary.LittleEndian.AppendUint32(b, s.Self)
	b = codec.AppendBool(b, s.Taken)
	sealPacket(b[start:])
	return b
}

func (s *resetPacket) parse(p []byte) error {
	r := codec.NewReader(p[prefixSize:])
	s.Channel, s.Tag, s.Self, s.Taken = ChannelID(r.U32()), r.U64(), r.U32(), r.Bool()
	return r.Close()
}

// passTag distinguishes passes and hellos by their ends, which are tags or hashes that nobody can
// guess.
func passTag(pass []byte) uint32 {
	if len(pass) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(pass[len(pass)-4:])
}

// firstHeader begins a packet of data to an acceptor that has not told its channel yet. All of it
// is authenticated. Its checksum distinguishes a damaged pass, which is ignored, from a bad one,
// which is refused.
type firstHeader struct {
	bind
	Pass   []byte
	Number uint32
}

func (h *firstHeader) append(b []byte) []byte {
	start := len(b)
	b = append(b, handshakeBits|byte(kindFirst), packetVersion)
	b = h.bind.append(b)
	b = append(b, byte(len(h.Pass)))
	b = append(b, h.Pass...)
	b = binary.LittleEndian.AppendUint32(b, h.Number)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// parse returns the size of the header.
func (h *firstHeader) parse(p []byte) (head int, err error) {
	r := codec.NewReader(p[2:])
	h.read(&r)
	h.Pass = r.Take(int(r.U8()))
	h.Number = r.U32()
	head = len(p) - r.Len()
	if r.U32() != crc32.Checksum(p[:head], castagnoli) {
		r.Fail(codec.ErrValue)
	}
	return head + 4, r.Err()
}

// appendDataHeader appends the header of a data packet: kind and size of the number, channel, the
// lower bytes of the number. acked is the first number that the peer is not known to have seen. The
// receiver fills in the rest by RFC 9000, A.3.
func appendDataHeader(b []byte, channel ChannelID, number, acked uint64) []byte {
	n := 1
	for d := 2 * (number - acked + 1); d >= 1<<(8*n) && n < 4; {
		n++
	}
	b = append(b, dataBits|byte(n-1))
	b = binary.AppendUvarint(b, uint64(channel))
	for i := range n {
		b = append(b, byte(number>>(8*i)))
	}
	return b
}

// dataHeader is what appendDataHeader wrote.
type dataHeader struct {
	Channel ChannelID
	short   uint64 // lower bytes of the number
	bits    int
}

// parse returns the size of the header; false when p is too short.
func (h *dataHeader) parse(p []byte) (head int, ok bool) {
	h.bits = 8 * (int(p[0]&3) + 1)
	channel, n := binary.Uvarint(p[1:])
	head = 1 + n + h.bits/8
	if n <= 0 || channel > maxChannelID || len(p) < head {
		return 0, false
	}
	h.Channel = ChannelID(channel)
	h.short = 0
	for i := range h.bits / 8 {
		h.short |= uint64(p[1+n+i]) << (8 * i)
	}
	return head, true
}

// number is the full packet number that lies nearest to expected, one above the largest so far (RFC
// 9000, A.3).
func (h *dataHeader) number(expected uint64) uint64 {
	window := uint64(1) << h.bits
	n := expected&^(window-1) | h.short
	switch {
	case n+window/2 <= expected:
		return n + window
	case n > expected+window/2 && n >= window:
		return n - window
	}
	return n
}

// plainTag is the trailer of a data packet without a Guard: a checksum that also covers the key of
// the channel and the whole of the number, so that neither a damaged packet nor one of another
// channel is accepted.
func plainTag(p []byte, key, number uint64) uint32 {
	seed := (key ^ number) * 0x9E3779B97F4A7C15
	return crc32.Update(uint32(seed>>32), castagnoli, p)
}
