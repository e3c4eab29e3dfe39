package secure_test

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/cellscape/cellscape/mercury/secure"
)

var packetSizes = []int{100, 300, 1200}

// BenchmarkBare is the AEAD alone, for comparison: the difference is what a Sealer adds.
func BenchmarkBare(b *testing.B) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		b.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		b.Fatal(err)
	}
	chacha, err := chacha20poly1305.New(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		aead cipher.AEAD
	}{{"AES-128-GCM", gcm}, {"ChaCha20-Poly1305", chacha}} {
		for _, size := range packetSizes {
			nonce := make([]byte, 12)
			packet := make([]byte, headSize+size, 1500)
			b.Run(fmt.Sprintf("%s/Seal/%d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.aead.Seal(packet[:headSize], nonce, packet[headSize:], packet[:headSize])
				}
			})
			b.Run(fmt.Sprintf("%s/SealOpen/%d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					out := c.aead.Seal(packet[:headSize], nonce, packet[headSize:], packet[:headSize])
					if _, err := c.aead.Open(out[headSize:headSize], nonce, out[headSize:], out[:headSize]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPacket does the same through a Sealer.
func BenchmarkPacket(b *testing.B) {
	for _, suite := range []secure.Suite{secure.AESGCM, secure.ChaChaPoly} {
		for _, size := range packetSizes {
			p := newStage(b, suite).connect()
			packet := make([]byte, headSize+size, 1500)
			number := uint64(0)
			b.Run(fmt.Sprintf("%v/Seal/%d", suite, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.server.Seal(packet, headSize, number)
					number++
				}
			})
			number = 0
			b.Run(fmt.Sprintf("%v/SealOpen/%d", suite, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.server.Open(p.client.Seal(packet, headSize, number), headSize, number); err != nil {
						b.Fatal(err)
					}
					number++
				}
			})
		}
	}
}

// BenchmarkForged is the cost of a packet that does not open: 100 bytes of nothing.
func BenchmarkForged(b *testing.B) {
	p := newStage(b, secure.AESGCM).connect()
	packet := make([]byte, headSize+100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.server.Open(packet, headSize, 1); err == nil {
			b.Fatal("opened")
		}
	}
}

// BenchmarkDial is a dialler's hello; BenchmarkAnswer and BenchmarkBadHello are the acceptor's
// share.
func BenchmarkDial(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	b.ReportAllocs()
	for b.Loop() {
		s.dial()
	}
}

func BenchmarkAnswer(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	hello := s.dial().Hello()
	b.ReportAllocs()
	for b.Loop() {
		s.answer(hello)
	}
}

func BenchmarkBadHello(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	hello := s.dial().Hello()
	hello[40]++
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.server.Answer(nil, s.now, clientAt, bind, hello); err == nil {
			b.Fatal("answered")
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	pass := s.connect().pass
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.server.Admit(s.now, clientAt, bind, pass); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdmitBad(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	pass := s.connect().pass
	pass[50]++
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.server.Admit(s.now, clientAt, bind, pass); err == nil {
			b.Fatal("admitted")
		}
	}
}

// BenchmarkResume follows a ticket from its making to the session on either side.
func BenchmarkResume(b *testing.B) {
	s := newStage(b, secure.AESGCM)
	s.server = newGuard(b, secure.Config{Random: seeded(3), Key: keyOf(b, 1), MaxUsed: 1 << 30})
	b.ReportAllocs()
	for b.Loop() {
		s.resume()
	}
}
