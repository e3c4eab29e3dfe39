// Package quic is.
package quic
