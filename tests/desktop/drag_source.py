#!/usr/bin/python3
"""A window from which files can be dragged, as from a file manager. usage: drag_source.py X Y FILE…"""
import pathlib
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

x, y, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
addresses = [pathlib.Path(file).resolve().as_uri() for file in files]

window = Gtk.Window(type=Gtk.WindowType.POPUP)  # places itself: no window manager needed
window.set_default_size(120, 120)
window.move(x, y)
handle = Gtk.EventBox()
handle.add(Gtk.Label(label="\n".join(pathlib.Path(file).name for file in files)))
window.add(handle)

handle.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
handle.drag_source_add_uri_targets()
handle.connect("drag-data-get", lambda _widget, _context, selection, _info, _time: selection.set_uris(addresses))
handle.connect("drag-end", lambda *_: Gtk.main_quit())
window.connect("map-event", lambda *_: print("SHOWN", flush=True))
window.show_all()
GLib.timeout_add_seconds(60, lambda: sys.exit("nobody dragged the files"))
Gtk.main()
