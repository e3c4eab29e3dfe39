package mercury

import (
	"encoding/binary"
	"hash/crc32"
)

// packetKind is the second byte of every datagram, beside the version in its upper half.
type packetKind uint8

const (
	kindOpen      packetKind = 1 + iota // dialler: may I, with a cookie once it has one
	kindChallenge                       // answer to an open without a cookie
	kindAccept                          // answer to an open with one
	kindRefuse                          // answer to an open that cannot be
	kindData                            // frames of a channel
	kindReset                           // answer to data of an unknown channel
)

const (
	packetMagic   = 0xCE
	packetVersion = 1 << 4

	// prefixSize: magic, kind, checksum.
	prefixSize = 1 + 1 + 4
	// headerSize of a data packet: prefix, channel, key, number.
	headerSize = prefixSize + 4 + 8 + 6
	// openSize is that of every open. An answer to it must not be longer, so that nobody can be flooded through us.
	openSize      = 128
	challengeSize = prefixSize + 4 + 4 + 4 + cookieSize
	acceptSize    = prefixSize + 4 + 4 + 4 + 4 + 8 + 4
	refuseSize    = prefixSize + 4 + 4 + 4 + 1
	resetSize     = prefixSize + 4 + 8 + 4

	cookieSize = 16
	// maxNumber is the last packet number: six bytes last 8900 years at a thousand packets a second.
	maxNumber = 1<<48 - 1
)

// The reflected answer is never larger than its cause; these do not compile otherwise.
const (
	_ = uint(openSize - challengeSize)
	_ = uint(openSize - acceptSize)
	_ = uint(openSize - refuseSize)
	_ = uint(headerSize - resetSize)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// beginPacket appends the prefix of a packet, its checksum still open.
func beginPacket(b []byte, kind packetKind) []byte {
	return append(b, packetMagic, packetVersion|byte(kind), 0, 0, 0, 0)
}

// sealPacket writes the checksum of the packet that p is.
func sealPacket(p []byte) { binary.LittleEndian.PutUint32(p[2:], checksum(p)) }

// checksum covers all of a packet but the checksum itself.
func checksum(p []byte) uint32 {
	return crc32.Update(crc32.Checksum(p[:2], castagnoli), castagnoli, p[prefixSize:])
}

// openPacket asks for a channel.
type openPacket struct {
	Salt   uint32    // of the dialler
	Dial   ChannelID // the dialler's channel: tells its dials apart
	Want   uint32    // salt that must answer, 0 for any
	Window uint32    // what the dialler can hold, in packets
	Cookie [cookieSize]byte
}

func (o *openPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindOpen)
	b = binary.LittleEndian.AppendUint32(b, o.Salt)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.Dial))
	b = binary.LittleEndian.AppendUint32(b, o.Want)
	b = binary.LittleEndian.AppendUint32(b, o.Window)
	b = append(b, o.Cookie[:]...)
	for len(b) < start+openSize {
		b = append(b, 0)
	}
	sealPacket(b[start:])
	return b
}

func (o *openPacket) parse(p []byte) error {
	r := NewReader(p[prefixSize:])
	o.Salt, o.Dial, o.Want, o.Window = r.U32(), ChannelID(r.U32()), r.U32(), r.U32()
	copy(o.Cookie[:], r.take(cookieSize))
	r.take(r.Len())
	if o.Salt == 0 || o.Dial == 0 || o.Window < MinWindow || o.Window > MaxWindow {
		r.fail(ErrValue)
	}
	return r.Close()
}

// challengePacket hands out the cookie that proves a dialler's address.
type challengePacket struct {
	Dial   ChannelID
	Salt   uint32 // of the dialler: nobody else knows it yet
	Self   uint32 // of the listener
	Cookie [cookieSize]byte
}

func (c *challengePacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindChallenge)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Dial))
	b = binary.LittleEndian.AppendUint32(b, c.Salt)
	b = binary.LittleEndian.AppendUint32(b, c.Self)
	b = append(b, c.Cookie[:]...)
	sealPacket(b[start:])
	return b
}

func (c *challengePacket) parse(p []byte) error {
	r := NewReader(p[prefixSize:])
	c.Dial, c.Salt, c.Self = ChannelID(r.U32()), r.U32(), r.U32()
	copy(c.Cookie[:], r.take(cookieSize))
	return r.Close()
}

// acceptPacket tells a dialler how to address the channel from now on.
type acceptPacket struct {
	Dial    ChannelID
	Salt    uint32 // of the dialler
	Self    uint32 // of the listener
	Channel ChannelID
	Key     uint64
	Window  uint32
}

func (a *acceptPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindAccept)
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Dial))
	b = binary.LittleEndian.AppendUint32(b, a.Salt)
	b = binary.LittleEndian.AppendUint32(b, a.Self)
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Channel))
	b = binary.LittleEndian.AppendUint64(b, a.Key)
	b = binary.LittleEndian.AppendUint32(b, a.Window)
	sealPacket(b[start:])
	return b
}

func (a *acceptPacket) parse(p []byte) error {
	r := NewReader(p[prefixSize:])
	a.Dial, a.Salt, a.Self = ChannelID(r.U32()), r.U32(), r.U32()
	a.Channel, a.Key, a.Window = ChannelID(r.U32()), r.U64(), r.U32()
	if a.Channel == 0 || a.Self == 0 || a.Window < MinWindow || a.Window > MaxWindow {
		r.fail(ErrValue)
	}
	return r.Close()
}

// refusal says why an open cannot be.
type refusal uint8

const (
	refusedSalt refusal = 1 + iota // another start is here
	refusedFull                    // MaxChannels reached
	refusedGone                    // this dial was accepted and has ended already
)

// refusePacket ends a dial.
type refusePacket struct {
	Dial ChannelID
	Salt uint32 // of the dialler
	Self uint32 // of the listener
	Why  refusal
}

func (f *refusePacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindRefuse)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Dial))
	b = binary.LittleEndian.AppendUint32(b, f.Salt)
	b = binary.LittleEndian.AppendUint32(b, f.Self)
	b = append(b, byte(f.Why))
	sealPacket(b[start:])
	return b
}

func (f *refusePacket) parse(p []byte) error {
	r := NewReader(p[prefixSize:])
	f.Dial, f.Salt, f.Self, f.Why = ChannelID(r.U32()), r.U32(), r.U32(), refusal(r.U8())
	if f.Why < refusedSalt || f.Why > refusedGone {
		r.fail(ErrValue)
	}
	return r.Close()
}

// dataHeader opens a data packet; frames follow.
type dataHeader struct {
	Channel ChannelID // the receiver's
	Key     uint64
	Number  uint64
}

func (h *dataHeader) append(b []byte) []byte {
	b = beginPacket(b, kindData)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Channel))
	b = binary.LittleEndian.AppendUint64(b, h.Key)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Number))
	return binary.LittleEndian.AppendUint16(b, uint16(h.Number>>32))
}

func (h *dataHeader) parse(p []byte) (frames []byte, err error) {
	r := NewReader(p[prefixSize:])
	h.Channel, h.Key = ChannelID(r.U32()), r.U64()
	h.Number = uint64(r.U32()) | uint64(r.U16())<<32
	return r.Rest(), r.Err()
}

// resetPacket repeats the address of a data packet that found no channel, and says who is here instead.
type resetPacket struct {
	Channel ChannelID // that the refused packet was addressed to
	Key     uint64
	Self    uint32
}

func (s *resetPacket) append(b []byte) []byte {
	start := len(b)
	b = beginPacket(b, kindReset)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Channel))
	b = binary.LittleEndian.AppendUint64(b, s.Key)
	b = binary.LittleEndian.AppendUint32(b, s.Self)
	sealPacket(b[start:])
	return b
}

func (s *resetPacket) parse(p []byte) error {
	r := NewReader(p[prefixSize:])
	s.Channel, s.Key, s.Self = ChannelID(r.U32()), r.U64(), r.U32()
	return r.Close()
}
