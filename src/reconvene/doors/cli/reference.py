"""Writes docs/cli.md from the commands themselves: `python -m reconvene.doors.cli.reference > docs/cli.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from reconvene.core.kit_finder import reader
from reconvene.doors.cli.main import cli
from reconvene.doors.shared.form import blank

_HEAD = """\
# The command line

This page is generated from the commands themselves (`python -m reconvene.doors.cli.reference > docs/cli.md`).

State lives in a home: where `--home DIR` says, else `RECONVENE_HOME`, else in the `.reconvene/` of the current folder
or of the nearest folder above that has one. The search ends below your own home folder, below `/`, and at another file
system. `run`, `new` and `demo` make a home in the current folder where none is found, or at `--home DIR` where nothing
else lies; for all other commands a `--home` that is no home is an error. Without any home, lists are empty and say
where they looked.

`--home` and `--json` may stand before or after the command. RUN is a run's id or the beginning of one; commands that
show it in brackets take the only open run when it is left out.

## Exit codes

| code | `run`, `resume`, `decide`, `rollback`, `pause`, `abort`: how the run stands |
|---|---|
| 0 | completed (or, with `--no-drive`, recorded) |
| 1 | failed, or ended by a gap check |
| 2 | aborted by the person |
| 3 | parked: waiting (for a person or a provider), paused or queued; `resume` or `decide` goes on |
| 64 | wrong usage or bad input: nothing was recorded |
| 130 | interrupted by Ctrl-C while nothing was being driven, or by a second Ctrl-C |

Where there is nothing to do (the same decision again, a pause of what is paused, an abort of what is aborted), that is
said, the exit code is the same, and the JSON has `nothing_to_do`.
`ask` exits with 1 where a model was to answer and could not; `chat` from a pipe with 1 where a line of it failed.
`queue run` exits with 3 if any of the runs waits, else 1 if any failed, 2 if any was aborted, else 0.
`check` exits with 64 where the file is wrong; `check --here` and `doctor WORKFLOW` with 1 where an agent could not work
on this machine. Every other command exits with 0 when it worked.

## JSON

With `--json`, `run`, `resume` and `decide` print one object: `run`, `status` (`queued`, `running`, `waiting`,
`paused`, `completed`, `failed`, `aborted`), `phase`, `round` and `checkpoint` (`id`, `question`, `prompt`, `options`
with what each `leads` to and whether it `ends` the run early, in `show` also what it `takes` (`agents`, `calls`,
`minutes`, `tokens`, `cost`, `stop`), why it is recommended (`because`), what speaks `against` it (in
`against_words`, what who objects said), which option it is the `same_as`, and why it is `final`, where it cannot be taken back, `fields`, `show_files`, `digest`, `status`,
`attention`, with `fields` the `answers` so far, `feedback`, the question for remarks, where there is one, `outputs`,
the first `lines` of what each `agent` wrote, `missing`, the agents that gave nothing, and `changed`, where another round changed something: for each `agent` a
sentence of what it said, `was`, and of what it says now, `is`, and what else differs, `also`; with `since_try` since a
try that was taken back) or null; where the run goes through a list, `items` (`phase`, `key`, `title`, `number`, `of`);
while `running` also `driven`: false where no process is at work on it (after a crash, or `--no-drive`) and `resume` is
needed. While it waits for a provider, `reason` is `provider` and `provider` says for which: `model`, `outcome`, `why`,
`since`, `not_before`, `agents`. `unasked` are outputs that stand though a gate could not ask its model, `unshown` the
`agents` that were not shown all `documents` (`name`, `shown` and `of` in characters, `summary`), since they did not fit
into a prompt. A piece of a run that was split also has `parent`, `piece` (its key) and `title`, such a run
`children`, and `unmade` while some of them have no log yet. `inbox`, `runs` and `queue run` print a list of such objects; `queue` prints a list with `position`, `run`, `parent`, `title`,
`workflow`, `since` and `siblings`; `show` adds `context`, `todo` (`what`, `done`), `review` (at a checkpoint:
`remarks` made there with `level` and `reason`, `open` ones, the `preview` of another round, the stop `meter`), `talk`
(what was said in a phase whose agents talk with you: `kind`, `who`, `round`, `text`), `bindings` (`agent`, absent
where it is for all agents of a model, `who`, `by`, `at`, `source`), `settled` (decisions about trouble) and more;
`show --since` prints one with `since` (`after`, `at`, `what`, `decided`, `worked`, and `news`: `kind`, `text`, `was`,
`now`, `who`, `id`, `at`, `how`, what matters first); `remark` adds `understood` and `remarks`; `check` prints the `problems` of the file and, under `here`, the `lacks` of this machine;
`ledger` and `stats` print an object each; `gaps` prints one with `gaps` (those asked
for), `open`, `by_severity`, `state`, `rounds` (the convergence table) and `chart`, or about one gap `gap`, `moments`,
`issues`, `conflicts`, `decisions` and more; `rounds` prints one with `rounds` (`serial`, `phase`, `n`, `outcome`,
`tried`, `undone`, …), with `--compare` `tries`, `asked` and `differences`, with `--prune` `pruned` and `spared`;
`output` prints one with `attempts` (`agent`, `phase`, `item`, `round`, `serial`, `attempt`, `verdict`, `why`,
`prompt`, `reply`, `output`, …); `log` prints one event per line with `seq`, `type` and `at`. Keys are added, never
taken away. Long lists come page by page: `--limit N`, and `--after` with the last row that was shown: `RUN` for
`inbox` and `runs`, `SEQ` for `log`, `ID` for `ledger`. Messages for people go to stderr. An error is an object there,
too: `{"error": …, "hint": …}`.

## Answers file

`--answers FILE` takes decisions in order from a YAML list:

```yaml
- {option: Continue}
- option: Again
  feedback: ["correction: Revenue is $900M, not $850M", {on: "plan.md:12-14", say: "shorter please"}]
  fields: {severity: high}
  by: Ada
```

What an answer says is recorded before its decision is taken, as if a person had typed it. `on` names lines of a file as
`remark --on` does: `plan.md:12`, `plan.md:words that stand there`, `todo:ID`. An answer that does not fit
the checkpoint is refused with its line, and the run stays parked there. A checkpoint that needs attention (an agent
failed, files conflict) is never answered from a file. A file decides what is there, and nobody need have seen it: the
record says from which file and line, and `show`, `ledger` and the git history tell it.

## Versions

A decision is about what was shown. A checkpoint has a version, its `digest`; every stop prints the command that decides
it, with the beginning of its version: `--at 3f9a`. The version changes when a shown file changes, when somebody says
something or saves an answer, and with each checkpoint.

- Without `--at`, the last version is meant that was shown to you: printed whole by `run`, `resume`, `show` or another
  stop, with `--json` or without, or drawn at your terminal. `inbox`, `runs` and other lists do not count. Who you are is
  your account and the name that you claim (`--by`, `RECONVENE_BY`, your settings file). What was shown to an account
  without a name counts for all its names.
- Where another version is open by now, nothing is decided: you are told what changed since, and what to type. At a
  terminal you are shown it anew and asked again.
- What you said or changed yourself since does not stand in the way. It goes with your decision, which lists it.
- In a script, the stop that `decide` itself prints does not count as shown, so that the same line run twice does not
  decide two checkpoints. Name the next one with `--at`, print it with `show`, or take whatever is open with `--latest`;
  the record says `--latest`, too.
- The same decision of the same person on the same version, given again, does nothing, says so and exits with 0.

What was shown to whom is kept in the folder `shown` of the home, beside the log. It is a memory and no proof: without it
you name the version.

## Feedback

A remark has a kind: {kinds}.
A reaction may say to whom: "reaction to economist: …". `--feedback "kind: text"`, a file of answers and `remark RUN
"kind: text"` take it as written. Free text is split and classified by rules, on a terminal, with `--feedback`, in files of
answers and with `remark --understand`, and what came of it is shown; words that only agree are no remark. What is said
while agents work is weighed at the next checkpoint, like what is said there. `remark --form` and, where `EDITOR` or
`VISUAL` is set, "Write it in your editor" at a checkpoint read this form:

```markdown
{form}
```

Under a heading, "- " at the beginning of a line begins another remark. Headings may be left out or come twice.

## Environment

Every variable that Reconvene reads, sets or passes on. A test compares this table with the source.

| variable | meaning |
|---|---|
| `RECONVENE_HOME` | where state lives |
| `RECONVENE_BY` | the name that decisions and remarks carry |
| `RECONVENE_FEEDBACK_MODEL` | a model, as provider:name, that reads typed feedback after the rules |
| `RECONVENE_GATE_MODEL` | a model, as provider:name, that answers what gates `ask`; without it they pass |
| `RECONVENE_COMPANION_MODEL` | a model, as provider:name, that answers `ask` and `chat`; without it the record answers |
| `RECONVENE_SEARCH_MODEL` | what makes vectors for [searches](search.md): `minilm`, `wordllama`, `none`, or a model as provider:name; else what is installed |
| `OPENBLAS_NUM_THREADS` | threads that compare and make vectors; else 1 |
| `RECONVENE_TOKEN` | proves who you are, where people are set up (docs/people.md); else your account does |
| `RECONVENE_MCP_TOKEN` | what clients of `mcp --http` must send; else one is made up and printed |
| `RECONVENE_URL` | where people reach the pages that `serve` shows, for links in [messages](messages.md) |
| `RECONVENE_PROVIDER_WAIT` | seconds that a process waits for a provider that fails before the run parks; else 120 |
| `RECONVENE_MAX_FILE_MB`, `RECONVENE_MAX_FILES` | the largest file, in MB, and how many files are taken of what an agent leaves in its folder; else 10 and 1000. What is not taken is named |
| `RECONVENE_MAX_EDIT_MB` | the largest file, in MB, that is taken of what you change in the folder of a run; else 100. What is not taken is named |
| `RECONVENE_STORE_WAIT` | seconds that a process offers what agents finished to a store that is locked or full before it ends; else 3600. It is kept in the folder `finished` of the home, and `resume` records it |
| `XDG_CONFIG_HOME` | where your own configuration lies, in `reconvene/`: settings, what you accepted; `~/.config` |
| `RECONVENE_SANDBOX` | what `sandbox: auto` means on this machine: `auto`, `strict` or `off` |
| `RECONVENE_DEBUG` | `1`: print the traceback of an unexpected error |
| `VISUAL`, `EDITOR` | the editor for the form |
| `PAGER` | what shows long text at a terminal; empty, or `cat`: nothing does. Where it is not set, `less` |
| `NO_COLOR` | no colour, also on a terminal |
| `COLUMNS` | how wide lines may be; else as wide as the terminal, else 100 |
| `TERM` | `dumb`: no colour, and nothing is asked on the terminal |
| `RECONVENE_MODEL` | what `model: auto` uses: provider:name, or `command:` and a command line |
| `RECONVENE_CODER` | the command of the coding agent of `brainstorm`. A workflow of yours may read [others](language.md#inputs-and-settings) with `env` |
| `RECONVENE_DEMO_SPEED` | how long recorded agents pretend to work: `0` not at all, `1` as recorded |
| `RECONVENE_RUN`, `RECONVENE_TASK`, `RECONVENE_ATTEMPT`, `RECONVENE_WORKDIR`, `RECONVENE_MARK` | set for an agent that is a command: the run, the task, the number of the attempt, its folder, and what its processes are known by |
| `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GOOGLE_API_KEY`, `GEMINI_API_KEY`, `MISTRAL_API_KEY`, `GROQ_API_KEY` | the key of that provider. `model: auto` takes the first one that is set. For another provider it is `PROVIDER_API_KEY`, unless `api_key_env` of the agent names one |
| `OPENAI_BASE_URL` | another server for `openai:` models |
| `OLLAMA_BASE_URL`, `OLLAMA_HOST` | where Ollama is |
| `LMSTUDIO_BASE_URL`, `LLAMACPP_BASE_URL`, `VLLM_BASE_URL` | where these servers are |
| `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`, `SSL_CERT_DIR` | the way to a provider; servers on this machine are asked directly. Passed on to the coding programs, in small letters, too |
| `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, `NODE_EXTRA_CA_CERTS` | passed on to the coding programs |
| `ANTHROPIC_*`, `CLAUDE_*`, `AWS_*`, `GOOGLE_APPLICATION_CREDENTIALS`, `CLOUD_ML_REGION`, `API_TIMEOUT_MS`, `DISABLE_*` | passed on to claude |
| `OPENAI_*`, `CODEX_*`, `AZURE_OPENAI_*` | passed on to codex |
| `GEMINI_*`, `GOOGLE_*` | passed on to gemini |
| `OPENCODE_*`, `AWS_*`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME`, `XDG_CACHE_HOME` | passed on to opencode; `OPENCODE_PERMISSION` is set |
| `LLM_*`, `XDG_CONFIG_HOME` | passed on to llm |
| `GOOGLE_GENERATIVE_AI_API_KEY`, `OPENROUTER_API_KEY`, `DEEPSEEK_API_KEY`, `XAI_API_KEY` | with the keys above, passed on to opencode and llm |
| `PATH`, `HOME`, `LANG`, `LC_*`, `TERM`, `TMPDIR`, `USER`, `SHELL` | passed on to every agent that is a command, with what its `env` names. Programs are looked for on `PATH` |
| `HOME`, `XDG_STATE_HOME` | agents have their folders, and worktrees of projects, in `reconvene/` below `XDG_STATE_HOME`, else below `~/.local/state` |
| `SSH_AUTH_SOCK`, `XDG_RUNTIME_DIR`, `GNUPGHOME`, `KUBECONFIG`, `DOCKER_CONFIG`, `DOCKER_HOST` | what they name is hidden from agents in a [sandbox](security.md); `docker` among the `sockets` of an agent shows it where Docker is |
| `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `LLM_USER_PATH` | where a program keeps what a sandbox gives it a private copy of |
| `CLAUDE_CODE_USE_BEDROCK`, `CLAUDE_CODE_USE_VERTEX`, `GOOGLE_GENAI_USE_VERTEXAI`, `AWS_PROFILE` | where one is set, the coding program gets a private copy of the login that it means: `~/.aws`, `~/.config/gcloud` |
| `PATH`, `HOME`, `XDG_CONFIG_HOME`, `TMPDIR`, `USER`, `LOGNAME` | passed on to git, for its configuration; `GIT_*` are not |
| `LD_LIBRARY_PATH`, `DYLD_LIBRARY_PATH` | passed on to the helper process that bounds expressions |
| `LESS`, `LESSCHARSET`, `LESSSECURE` | set for the pager; `LESS` and `LESSCHARSET` only where you have not |
| `_RECONVENE_COMPLETE` | set by the shell where it completes a command |
| `VIRTUAL_ENV` | how a line that installs something is written |

The value of a variable whose name ends in `KEY`, `TOKEN`, `SECRET`, `PASSWORD`, `PASSPHRASE`, `CREDENTIALS`, `_PASS` or
`_PWD` is blanked in prompts, outputs, replies, errors, inputs, settings and in what people say; so is a password inside a URL that a variable holds,
and the value of a variable that an agent's `env` names, unless that is a word, a number or a path that exists. It is
found as it stands, and as JSON or a URL spell it. Shorter than 8 characters it is not looked for, since it would blank
ordinary words; from 6 on it is where the name, or a URL, says that it is a secret, and it is neither a word nor a number.
`check` and the start of a run name the variables of `env` whose values are too short. A *file* that an
agent wrote and that holds such a value is not taken: the next stop names it, and `take` takes it on your word.

## At a checkpoint

On a terminal a checkpoint begins with one screen: where the run is, the question, what changed, the options with what
follows from each, and as much of the rest as fits. “Read on” shows all of it, “Read what an agent wrote” one output,
both with your pager. Where remarks are asked for first, `?` reads on. Ctrl-C decides nothing: your remarks, and your
answers to the checkpoint's own fields, are kept, and `resume` goes on. A line that you had begun stands there again.
Elsewhere `decide RUN` without an option lists the options with their fields.

While agents work, `✓` stands for an output that was accepted and is on record, `✗ … sent back` for one that a rule
refused, with the reason. `--live AGENT` shows what an agent writes as it comes; `output` shows it later, the prompt
that it was sent and the reply as it came included.

## Completion

`eval "$(reconvene completion bash)"` in `~/.bashrc` (or `zsh` in `~/.zshrc`) completes commands, run ids, workflows,
the options of an open checkpoint and agents.

## Commands
"""  # noqa: E501


def reference() -> str:
    """The whole page."""
    top = click.Context(cli, info_name="reconvene", help_option_names=["-h", "--help"])
    head = _HEAD.replace("{form}", blank().rstrip()).replace("{kinds}", ", ".join(reader().kinds))
    return "\n".join([head, *_sections(cli, top)]).rstrip() + "\n"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """The help of a command, and of those that it is a group of."""
    context.terminal_width = 100
    yield f"### {context.command_path}\n\n```text"
    yield from (line.rstrip() for line in command.get_help(context).splitlines())
    yield "```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                yield from _sections(found, click.Context(found, info_name=name, parent=context))


if __name__ == "__main__":
    sys.stdout.write(reference())
