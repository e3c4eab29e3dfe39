package protocol

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/mercury"
)

// Limits of what a client says at login.
const (
	// MaxName bounds a user name and a password: long enough for a token of an outside account
	// service.
	MaxName = 256
	// TokenSize is the size of a session token: 128 random bits cannot be guessed.
	TokenSize = 16
)

// Messages between a client and a LoginApp.
const (
	LoginID ID = 1 + iota
	LoginOKID
	RefusedID
	WaitingID
)

// Digest is the digest of what a client can see or call (property.Schema.ClientDigest).
type Digest [16]byte

// Token is the secret by which a client proves to the BaseApp that it has logged in.
type Token [TokenSize]byte

// Code says why a client is refused or dropped; the reason text is for people.
type Code uint8

// These are the reasons to refuse or to drop a client.
const (
	BadVersion Code = 1 + iota
	BadDigest
	BadCredentials
	AlreadyLoggedIn
	ServerBusy
	// NotReady: the world starts, or its managers are away; the reason says which.
	NotReady
	BadToken
	Malformed
	Flooding
	ServerClosing
	Destroyed
	LoggedOut
	WorldFull
	TooSlow
	// Replaced: another client has logged in to the same account.
	Replaced
	// Kicked: the server's game has ended the session.
	Kicked
	// ConnectionLost: a proxy's script is told it, and a client that comes back too late.
	ConnectionLost
	// GivenAway: a proxy's script is told that another proxy has its client now. Clients are not told.
	GivenAway
	// Banned: an Auth does not let the account in. The reason says why and until when, in its words.
	Banned
)

// String gives the reason as a sentence without a full stop.
func (c Code) String() string {
	return enum.Name(c, "reason", []string{
		BadVersion:      "the client speaks another protocol version",
		BadDigest:       "the client was built from other entity definitions",
		BadCredentials:  "unknown user or wrong password",
		AlreadyLoggedIn: "this account is already logged in",
		ServerBusy:      "the server is busy, try again",
		NotReady:        "the server is not ready, try again",
		BadToken:        "the login is not known or has expired",
		Malformed:       "the client sent something that is not the protocol",
		Flooding:        "the client sent too much",
		ServerClosing:   "the server is closing",
		Destroyed:       "the player's entity was destroyed",
		LoggedOut:       "logged out",
		WorldFull:       "the world is full, try again",
		TooSlow:         "the client does not take what it is sent",
		Replaced:        "the account has logged in elsewhere",
		Kicked:          "the game has ended the session",
		ConnectionLost:  "the connection was lost and did not come back",
		GivenAway:       "the client was given to another entity",
		Banned:          "this account is banned",
	})
}

// Login is a client's first message to a LoginApp.
type Login struct {
	Version  uint16
	Digest   Digest
	User     string
	Password string
}

func (m *Login) code(c *codec.Coder) {
	c.U16(&m.Version)
	c.Array(m.Digest[:])
	c.String(&m.User, MaxName)
	c.String(&m.Password, MaxName)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Login) Append(b []byte) []byte  { return frame(b, LoginID, m.code) }
func (m *Login) Parse(body []byte) error { return parse(body, m, m.code) }

// LoginOK tells a client where its proxy waits, the token that proves its login and, from a sealed
// cluster, a ticket.
type LoginOK struct {
	// Doors are those of the BaseApp, one at least. The client takes whichever it can.
	Doors []Door
	// Fallback is where the session goes on, and even begins, if that app is gone; see Fallback. There
	// the client shows the token with a Resume.
	Fallback []Door
	Token    Token
	// Ticket opens one channel to the first of Doors over UDP without a round trip
	// (mercury.Guard.Keep). It is a secret, has at most mercury.MaxTicket bytes, and may be
	// empty. After Parse it aliases the body.
	Ticket []byte
}

func (m *LoginOK) code(c *codec.Coder) {
	codeDoors(c, &m.Doors)
	codeDoors(c, &m.Fallback)
	c.Array(m.Token[:])
	c.Bytes(&m.Ticket, mercury.MaxTicket)
}

// Append frames and encodes m, Parse decodes a body.
func (m *LoginOK) Append(b []byte) []byte  { return frame(b, LoginOKID, m.code) }
func (m *LoginOK) Parse(body []byte) error { return parse(body, m, m.code) }

// Waiting tells a client whose login is right that the world is full, and that it will come in by itself.
// It is told again every few seconds, until a LoginOK or a Refused.
type Waiting struct {
	// Position is 1 for the client that comes in next.
	Position uint32
	// Of is how many wait at that LoginApp, at least Position.
	Of uint32
}

func (m *Waiting) code(c *codec.Coder) {
	codec.Uint32(c, &m.Position)
	codec.Uint32(c, &m.Of)
	if m.Position == 0 || m.Position > m.Of {
		c.Fail(codec.ErrValue)
	}
}

// Append frames and encodes m, Parse decodes a body.
func (m *Waiting) Append(b []byte) []byte  { return frame(b, WaitingID, m.code) }
func (m *Waiting) Parse(body []byte) error { return parse(body, m, m.code) }

// Refused says why a client may not come in, or must go. The channel is closed after it.
type Refused struct {
	Code   Code
	Reason string
}

func (m *Refused) code(c *codec.Coder) {
	c.U8((*uint8)(&m.Code))
	c.String(&m.Reason, MaxReason)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Refused) Append(b []byte) []byte  { return frame(b, RefusedID, m.code) }
func (m *Refused) Parse(body []byte) error { return parse(body, m, m.code) }

// ForeignVersion refuses a client that speaks a version other than Version.
func ForeignVersion(client uint16) Refused {
	remedy := "install a newer client"
	if client > Version {
		remedy = "it is for a newer world: install the client of this one"
	}
	return Refused{Code: BadVersion, Reason: fmt.Sprintf("it speaks version %d, the world %d; %s", client, Version, remedy)}
}

// ForeignDigest refuses a client whose definitions, as far as clients see them, are not those of the world.
func ForeignDigest(client, world Digest) Refused {
	return Refused{Code: BadDigest, Reason: fmt.Sprintf("its client digest is %x, that of the world %x; install the client of this world", client, world)}
}

// Error makes a refusal an error that a client can show.
func (m *Refused) Error() string {
	if m.Reason == "" {
		return "refused: " + m.Code.String()
	}
	return "refused: " + m.Code.String() + ": " + m.Reason
}
