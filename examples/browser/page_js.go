package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"syscall/js"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
)

// loginLimit is how long the world may take to let the player in.
const loginLimit = 30 * time.Second

func main() {
	door := flag.String("door", "", "WebSocket door of the world")
	name := flag.String("name", "Guest", "name of the player")
	flag.Parse()
	p := newPage()
	p.state("coming in ...")
	if err := p.run(*door, *name); err != nil {
		p.state("it is over: " + err.Error())
		return
	}
	p.state("good-bye")
}

// page is what the browser shows. Frames and keys come as events of the browser, which must not wait for
// anything: they leave word, and run does what they ask for. There are no locks, since a page has one
// thread, and its goroutines take turns only where they wait.
type page struct {
	document, canvas, pen js.Value
	wide, high            float64

	frames chan struct{}
	held   map[string]bool   // keys
	goal   *property.Vector3 // where the mouse has pointed; nil for nowhere
	greet  bool
	at     property.Vector3 // of the player, when it was last drawn
	last   time.Time        // when the player was last moved
}

// scale is pixels for a metre.
const scale = 6

func newPage() *page {
	document := js.Global().Get("document")
	p := &page{document: document, canvas: document.Call("getElementById", "field"), frames: make(chan struct{}, 1), held: make(map[string]bool)}
	p.pen = p.canvas.Call("getContext", "2d")
	on := func(event string, do func(e js.Value)) {
		document.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any { do(args[0]); return nil }))
	}
	on("keydown", func(e js.Value) {
		p.held[e.Get("key").String()] = true
		p.greet = p.greet || e.Get("key").String() == "Enter"
		p.goal = nil
	})
	on("keyup", func(e js.Value) { delete(p.held, e.Get("key").String()) })
	on("mousedown", func(e js.Value) { p.goal = p.placeOf(e.Get("clientX").Float(), e.Get("clientY").Float()) })
	p.eachFrame()
	return p
}

// eachFrame leaves word each time the browser is about to draw. A frame that comes before the last one has
// been drawn is left out.
func (p *page) eachFrame() {
	var next js.Func
	next = js.FuncOf(func(js.Value, []js.Value) any {
		select {
		case p.frames <- struct{}{}:
		default:
		}
		js.Global().Call("requestAnimationFrame", next)
		return nil
	})
	js.Global().Call("requestAnimationFrame", next)
}

// placeOf is the place in the world under a pixel.
func (p *page) placeOf(x, y float64) *property.Vector3 {
	return &property.Vector3{X: p.at.X + float32((x-p.wide/2)/scale), Z: p.at.Z - float32((y-p.high/2)/scale)}
}

func (p *page) state(text string) {
	p.document.Call("getElementById", "state").Set("textContent", text)
}

// run plays until the session is over.
func (p *page) run(door, name string) error {
	types, err := schema()
	if err != nil {
		return err
	}
	cfg := session.Config{
		LoginApp: door, User: name, Password: "", Schema: types, Retry: true,
		Filter: func(*client.Replica) client.Filter { return new(client.Hermite) },
		Events: client.Events{
			Called:      p.heard,
			Interrupted: func(why error) { p.state("the connection is lost: " + why.Error()) },
		},
	}
	limit, cancel := context.WithTimeout(context.Background(), loginLimit)
	player, err := session.Dial(limit, cfg)
	cancel()
	if err != nil {
		return err
	}
	p.last = time.Now()
	for {
		select {
		case <-player.Done():
			return player.Err()
		case <-p.frames:
		}
		if err := player.Do(func(c *client.Client) error { return p.frame(c, player.Now()) }); err != nil {
			return err
		}
	}
}

// heard shows what somebody says.
func (p *page) heard(r *client.Replica, _ *property.Method, args []property.Value) {
	line := p.document.Call("createElement", "div")
	line.Set("textContent", nameOf(r)+": "+args[0].Str())
	p.document.Call("getElementById", "says").Call("prepend", line)
}

// frame does what the player wants, and draws.
func (p *page) frame(c *client.Client, now time.Duration) error {
	if !c.InWorld() {
		return nil
	}
	if err := p.act(c); err != nil {
		return err
	}
	p.draw(c, now)
	return nil
}

// act moves the player's avatar, and speaks.
func (p *page) act(c *client.Client) error {
	own := c.Player()
	if p.greet {
		p.greet = false
		if err := own.Cell().Call("say", "good day"); err != nil {
			return err
		}
	}
	elapsed := min(time.Since(p.last), time.Second) // a page that was hidden does not jump
	p.last = time.Now()
	way := p.way(own.Position)
	far := float32(math.Hypot(float64(way.X), float64(way.Z)))
	if far == 0 || !c.Controls() {
		return nil
	}
	step := min(far, runSpeed*float32(elapsed.Seconds())) / far
	to := own.Position
	to.X = min(max(to.X+way.X*step, -side/2), side/2)
	to.Z = min(max(to.Z+way.Z*step, -side/2), side/2)
	return c.SetPosition(to, property.Vector3{X: float32(math.Atan2(float64(way.X), float64(way.Z)))})
}

// way is where the player wants to go from a place, zero for nowhere.
func (p *page) way(from property.Vector3) (way property.Vector3) {
	const far = 100 // further than a frame's step
	for key, by := range map[string]property.Vector3{"ArrowLeft": {X: -far}, "ArrowRight": {X: far}, "ArrowUp": {Z: far}, "ArrowDown": {Z: -far}} {
		if p.held[key] {
			way.X, way.Z = way.X+by.X, way.Z+by.Z
		}
	}
	if p.goal != nil {
		way = property.Vector3{X: p.goal.X - from.X, Z: p.goal.Z - from.Z}
	}
	return way
}

// draw shows the meadow around the player, who is in the middle.
func (p *page) draw(c *client.Client, now time.Duration) {
	p.wide, p.high = js.Global().Get("innerWidth").Float(), js.Global().Get("innerHeight").Float()
	p.canvas.Set("width", p.wide)
	p.canvas.Set("height", p.high)
	p.at = c.Player().Position
	x, y := p.pixel(property.Vector3{X: -side / 2, Z: side / 2})
	p.pen.Set("strokeStyle", "#7a9a5a")
	p.pen.Call("strokeRect", x, y, side*scale, side*scale)
	x, y = p.pixel(property.Vector3{X: float32(pond().MinX), Z: float32(pond().MaxZ)})
	p.pen.Set("fillStyle", "#9cd")
	p.pen.Call("fillRect", x, y, (pond().MaxX-pond().MinX)*scale, (pond().MaxZ-pond().MinZ)*scale)
	for r := range c.Entities() {
		at, _ := r.Shown(now)
		if r.Def.Name == "Sheep" {
			p.dot(at, "#fff", "")
			continue
		}
		p.dot(at, "#36c", nameOf(r))
	}
	p.dot(p.at, "#c33", nameOf(c.Player()))
	p.state(fmt.Sprintf("at %.0f, %.0f, with %d in view", p.at.X, p.at.Z, c.Len()))
}

func (p *page) pixel(at property.Vector3) (x, y float64) {
	return p.wide/2 + float64(at.X-p.at.X)*scale, p.high/2 - float64(at.Z-p.at.Z)*scale
}

// dot draws one entity.
func (p *page) dot(at property.Vector3, colour, name string) {
	x, y := p.pixel(at)
	p.pen.Set("fillStyle", colour)
	p.pen.Call("beginPath")
	p.pen.Call("arc", x, y, 5, 0, 2*math.Pi)
	p.pen.Call("fill")
	p.pen.Set("fillStyle", "#333")
	p.pen.Call("fillText", name, x+8, y+4)
}

// nameOf is the name that an avatar was given when it was made.
func nameOf(r *client.Replica) string { return r.Props.Get(r.Def.Property("name").Index).Str() }
