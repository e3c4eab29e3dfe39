// Package websocket carries channels of mercury over WebSockets (RFC 6455): a mercury.Transport for
// browsers.
//
// A web page cannot use UDP. It uses this package's Transport, which is an http.Handler in a server
// of the caller's (New), or has a small server of its own (Listen). Go clients, proxies and tests
// dial it like any other.
//
// # When to take it
//
// Take it for web pages, and where only HTTP passes.
//
// # What it lacks
//
// Compared with an Endpoint over package udp it lacks all that package tcp lacks, and:
//
//   - opening takes one more round trip (TCP, the request, the hello), and with TLS one or two
//     further;
//   - each message of a client is masked, byte by byte;
//   - behind a proxy the peer's address is the proxy's.
//
// With Config.TLS, or behind a proxy that ends TLS, it is encrypted, and the page knows whom it
// talks to. The application must ask who the page is. Without either it is in the clear, as package
// tcp is. A Transport counts as sealed only with TLS of its own: one that listens with Config.TLS
// dials with Config.DialTLS or not at all, and with Config.DialTLS it dials no URL in the clear.
// One behind a proxy is for host.UnsealedCarriers.
//
// # From a page
//
// WebSocket messages are binary. Each message from a server has whole frames of package stream, so
// a page reads frames until the message ends. A page may cut its own messages as it likes.
//
//	const ws = new WebSocket("wss://play.example.com/mercury")
//	ws.binaryType = "arraybuffer"
//	function frame(kind, body) {
//	  const b = new Uint8Array(4 + body.length)
//	  new DataView(b.buffer).setUint32(0, body.length << 4 | kind, true)
//	  b.set(body, 4)
//	  return b
//	}
//	ws.onopen = () => {
//	  const hello = new DataView(new ArrayBuffer(15))
//	  hello.setUint32(0, 0x53CE110D, true)
//	  hello.setUint8(4, 1)                           // version
//	  hello.setUint32(5, 1 + Math.random() * 0xFFFFFFFE, true) // salt, not 0
//	  ws.send(frame(1, new Uint8Array(hello.buffer)))
//	}
//	ws.onmessage = (e) => {
//	  const v = new DataView(e.data)
//	  for (let at = 0; at < v.byteLength; ) {
//	    const word = v.getUint32(at, true), n = word >>> 4
//	    take(word & 15, new Uint8Array(e.data, at + 4, n)) // 2 accepted, 3 refused, 4 and 5 messages, 7 closed: then ws.close()
//	    at += 4 + n
//	  }
//	}
//	setInterval(() => ws.send(frame(6, new Uint8Array())), 1000) // once accepted: a page that is silent is given up
//
// Pages from hosts other than the server's are refused unless Config.Origins names them.
//
// # Contract
//
// The Transport's methods are those of package stream. Its documentation says which goroutine may
// call what; ServeHTTP may be called on any.
package websocket
