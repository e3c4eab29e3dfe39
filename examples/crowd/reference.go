package main

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"net"
	"os"
	"time"
)

// The reference is the least that any server does for a datagram to a player: to seal 200 bytes, and
// to bring them through the kernel. What the world costs is told as a multiple of it, too, so that a
// slide shows on whatever machine the test runs.
const (
	referenceBytes = 200
	references     = 20_000 // a fifth of a second
)

// reference is the processor time of one datagram that is sealed, sent over the loopback and received.
func reference() (cost time.Duration, err error) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return 0, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return 0, err
	}
	in, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := net.DialUDP("udp4", nil, in.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	before, _, err := used(os.Getpid())
	if err != nil {
		return 0, err
	}
	nonce, plain, sealed := make([]byte, seal.NonceSize()), make([]byte, referenceBytes), make([]byte, 0, 2*referenceBytes)
	for i := range references {
		nonce[0], nonce[1], nonce[2] = byte(i), byte(i>>8), byte(i>>16)
		sealed = seal.Seal(sealed[:0], nonce, plain, nil)
		if _, err = out.Write(sealed); err != nil {
			return 0, err
		}
		if err = in.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return 0, err
		}
		if _, err = in.Read(sealed[:cap(sealed)]); err != nil {
			return 0, err
		}
	}
	after, _, err := used(os.Getpid())
	return (after - before) / references, err
}
