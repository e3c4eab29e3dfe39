package stream

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/mercury"
)

// Distrusted returns a mercury.ErrKey that wraps err if that says that the peer's certificate is not one
// to be trusted, else nil. It is for adapters: a dial that has failed so need not be tried again.
func Distrusted(err error) error {
	var certificate *tls.CertificateVerificationError
	if !errors.As(err, &certificate) {
		return nil
	}
	return fmt.Errorf("%w: its certificate is not trusted; dial it by the name that is in it, and trust who has signed it (RootCAs): %w", mercury.ErrKey, err)
}
