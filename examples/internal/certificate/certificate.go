// Package certificate makes certificates for doors over TLS, for as long as a show lasts.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// Make makes a certificate that nobody but itself vouches for. It is good for a day, and its key
// stays in this process. The file gets what clients trust. It is for the loopback and for those
// of the places that are addresses: clients look for the address that they dial. A real game
// takes one of an authority, which its players' systems trust already.
func Make(file string, places ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
	}
	for _, place := range places {
		if ip := net.ParseIP(place); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, os.WriteFile(file, text, 0o644)
}
