#!/usr/bin/env python3
"""Writes the transcripts of the test set, in the real formats, and truth.json beside them.

    python3 make.py

What people and agents say is in sessions-tune.txt and sessions-held-out.txt, with the truth. The files are
committed, so the tests need no Python. `/REPO` stands for the repository.
"""
import json
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).parent
MARK = re.compile(r"\[([cd])\]")
KINDS = {"c": "correction", "d": "decision"}


def sessions(name):
    for block in (HERE / name).read_text().split("\n== ")[1:]:
        maker, *lines = block.strip().split("\n")
        turns = []
        for line in lines:
            if line.startswith("  "):
                turns[-1]["text"] += "\n" + line.strip()
                continue
            who, text = line.split(":", 1)
            marked = MARK.search(who)
            text = text.strip()
            tail = re.search(r"\[([cd])\]$", text)
            kind = KINDS[(marked or tail)[1]] if marked or tail else None
            turns.append({"who": who[0], "text": MARK.sub("", text) if tail else text, "kind": kind})
        yield maker, turns


def claude(number, turns):
    lines, truth, call = [], [], 0
    session = f"5e55-{number:04}"
    def add(kind, message, **more):
        lines.append(json.dumps({
            "parentUuid": f"u{len(lines)}", "isSidechain": False, "userType": "external", "cwd": "/REPO",
            "sessionId": session, "version": "2.1.0", "gitBranch": "main", "type": kind, "message": message,
            **more, "uuid": f"u{len(lines) + 1}", "timestamp": f"2026-03-{number % 28 + 1:02}T10:{len(lines) % 60:02}:00.000Z",
        }, separators=(",", ":")))
    lines.append(json.dumps({"type": "summary", "summary": "No, use the other one", "leafUuid": "x"}))
    for turn in turns:
        who, text = turn["who"], turn["text"]
        if who == "p":
            content = text if len(lines) % 2 else [{"type": "text", "text": text}]
            add("user", {"role": "user", "content": content})
        elif who == "m":
            add("user", {"role": "user", "content": text}, isMeta=len(lines) % 2 == 0)
        elif who == "a":
            add("assistant", {"role": "assistant", "model": "claude", "content": [{"type": "text", "text": text}]})
        elif who == "e":
            call += 1
            add("assistant", {"role": "assistant", "content": [
                {"type": "tool_use", "id": f"t{call}", "name": "Edit", "input": {"file_path": f"/REPO/{text}"}}]})
        else:
            call += 1
            command, _, said = text.partition(" :: ")
            add("assistant", {"role": "assistant", "content": [
                {"type": "tool_use", "id": f"t{call}", "name": "Bash", "input": {"command": command}}]})
            result = {"tool_use_id": f"t{call}", "type": "tool_result", "content": "ok", "is_error": False}
            if who == "f":
                result.update(content=f"Exit code 1\n{said}", is_error=True)
            add("user", {"role": "user", "content": [result]})
        if turn["kind"]:
            truth.append((len(lines), turn["kind"]))
    return "\n".join(lines) + "\n", truth


def codex(number, turns):
    lines, truth, call = [], [], 0
    is_old = number % 5 == 1
    day = f"2026-03-{number % 28 + 1:02}"
    def add(kind, payload):
        stamp = f"{day}T11:{len(lines) % 60:02}:00.000Z"
        item = payload if is_old else {"timestamp": stamp, "type": kind, "payload": payload}
        lines.append(json.dumps(item, separators=(",", ":")))
    if is_old:
        lines.append(json.dumps({"id": f"c0de-{number:04}", "timestamp": f"{day}T11:00:00Z", "instructions": None}))
    else:
        add("session_meta", {"id": f"c0de-{number:04}", "timestamp": f"{day}T11:00:00Z", "cwd": "/REPO",
                             "originator": "codex_cli_rs", "cli_version": "0.98.0", "instructions": None})
    context = "<environment_context>\n  <cwd>/REPO</cwd>\n  <shell>bash</shell>\n</environment_context>"
    add("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": context}]})
    if not is_old:
        add("turn_context", {"cwd": "/REPO", "approval_policy": "on-request", "model": "gpt"})
    for turn in turns:
        who, text = turn["who"], turn["text"]
        at = len(lines) + 1
        if who in "pm":
            add("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
            if not is_old:
                add("event_msg", {"type": "user_message", "message": text, "kind": "plain"})
        elif who == "a":
            if not is_old:
                add("event_msg", {"type": "agent_reasoning", "text": "No, use something else. Let's use that."})
                at += 1
            add("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        elif who == "e":
            patch = f"*** Begin Patch\n*** Update File: {text}\n*** End Patch"
            add("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": f"p{at}", "input": patch})
        else:
            call += 1
            command, _, said = text.partition(" :: ")
            arguments = json.dumps({"command": ["bash", "-lc", command], "workdir": "/REPO"})
            add("response_item", {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": f"c{call}"})
            code = 1 if who == "f" else 0
            output = json.dumps({"output": said or "ok", "metadata": {"exit_code": code, "duration_seconds": 0.4}})
            add("response_item", {"type": "function_call_output", "call_id": f"c{call}", "output": output})
        if turn["kind"]:
            truth.append((at, turn["kind"]))
    return "\n".join(lines) + "\n", truth


def gemini(number, turns):
    messages, kinds, call = [], [], 0
    for turn in turns:
        who, text = turn["who"], turn["text"]
        stamp = f"2026-03-{number % 28 + 1:02}T12:{len(messages) % 60:02}:00.000Z"
        base = {"id": f"m{len(messages)}", "timestamp": stamp}
        if who in "pm":
            content = text if len(messages) % 2 else [{"text": text}]
            messages.append({**base, "type": "user", "content": content})
        elif who == "a":
            messages.append({**base, "type": "gemini", "content": text, "thoughts": [
                {"subject": "Thinking", "description": "No, use the other one."}], "model": "gemini"})
        else:
            call += 1
            command, _, said = text.partition(" :: ")
            name, args = ("replace", {"file_path": f"/REPO/{text}"}) if who == "e" else ("run_shell_command", {"command": command})
            code = 1 if who == "f" else 0
            output = f"Command: {command}\nDirectory: (root)\nOutput: {said or 'ok'}\nExit Code: {code}"
            messages.append({**base, "type": "gemini", "content": "", "toolCalls": [{
                "id": f"g{call}", "name": name, "args": args, "status": "success",
                "result": [{"functionResponse": {"id": f"g{call}", "name": name, "response": {"output": output}}}]}]})
        kinds.append(turn["kind"])
    session = {"sessionId": f"6e3-{number:04}", "projectHash": "HASH", "startTime": "2026-03-01T12:00:00.000Z",
               "lastUpdated": "2026-03-01T13:00:00.000Z", "messages": messages}
    text = json.dumps(session, indent=2) + "\n"
    starts = [at + 1 for at, line in enumerate(text.split("\n")) if line == "    {"]
    return text, [(starts[at], kind) for at, kind in enumerate(kinds) if kind]


def main():
    truth = []
    for half in ("tune", "held-out"):
        shutil.rmtree(HERE / half, ignore_errors=True)
        for number, (maker, turns) in enumerate(sessions(f"sessions-{half}.txt")):
            ending = "json" if maker == "gemini" else "jsonl"
            path = f"{half}/{maker}/{number:02}.{ending}"
            text, lessons = {"claude": claude, "codex": codex, "gemini": gemini}[maker](number, turns)
            (HERE / path).parent.mkdir(parents=True, exist_ok=True)
            (HERE / path).write_text(text)
            truth += [{"half": half, "file": path, "line": line, "kind": kind} for line, kind in lessons]
    (HERE / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


main()
