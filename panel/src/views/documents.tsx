/** Documents: the indexed files as a tree, what belongs together, and where they contradict one another. */
import { useState } from "preact/hooks";
import type { DocumentShape } from "../api";
import { call } from "../client";
import { useLoad, useRested } from "../hooks";
import { Badge, Button, Card, Command, Dots, Empty, Failure, Skeleton, When } from "../parts/basic";
import { Icon } from "../parts/icons";
import { go, place, withQuery } from "../router";
import { bytes, named, percent, t } from "../words";

type Branch = { name: string; path: string; folders: Map<string, Branch>; files: DocumentShape[] };

export function Documents() {
  const path = place.value.query.get("path");
  const { data, problem, reload } = useLoad((signal) => call("list_documents", { signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={10} />;
  if (data.documents.length === 0) {
    return (
      <Empty icon="documents" title={t("docs.none")}>
        <p>{t("docs.none_about")}</p>
        <Command text="recollect docs index docs/" />
      </Empty>
    );
  }
  const chosen = data.documents.find((one) => one.path === path);
  return (
    <div class="docs">
      <section class="tree" aria-label={t("docs.tree")}>
        <div class="view-head">
          <h1>{t("nav.documents")}</h1>
          <span class="dim">{t("docs.count", { n: data.documents.length })}</span>
        </div>
        <Folder branch={grow(data.documents)} chosen={path} isRoot />
      </section>
      <div class="docs-side">{chosen ? <OneDocument document={chosen} /> : <SearchDocuments />}
        {!chosen && <Checked />}
        {!chosen && <Duplicates documents={data.documents} />}
      </div>
    </div>
  );
}

function grow(documents: DocumentShape[]): Branch {
  const root: Branch = { name: "", path: "", folders: new Map(), files: [] };
  for (const one of documents) {
    const parts = one.path.split("/");
    let branch = root;
    for (const part of parts.slice(0, -1)) {
      const path = branch.path ? `${branch.path}/${part}` : part;
      const next = branch.folders.get(part) ?? { name: part, path, folders: new Map(), files: [] };
      branch.folders.set(part, next);
      branch = next;
    }
    branch.files.push(one);
  }
  return root;
}

function Folder({ branch, chosen, isRoot }: { branch: Branch; chosen: string | null; isRoot?: boolean }) {
  const inside = (
    <ul class="branch">
      {[...branch.folders.values()].map((one) => (
        <li key={one.path}>
          <Folder branch={one} chosen={chosen} />
        </li>
      ))}
      {branch.files.map((one) => (
        <li key={one.path}>
          <a class={one.path === chosen ? "leaf chosen" : "leaf"} aria-current={one.path === chosen ? "true" : undefined} href={withQuery({ path: one.path, q: null })}>
            <Icon name="file" size={14} />
            <span class="leaf-name">{one.title || one.path.split("/").at(-1)}</span>
            <Dots value={one.confidence_now ?? one.confidence} />
          </a>
        </li>
      ))}
    </ul>
  );
  if (isRoot) return inside;
  return (
    <details open={branch.path.split("/").length < 3 || (chosen ?? "").startsWith(branch.path)}>
      <summary>{branch.name}/</summary>
      {inside}
    </details>
  );
}

function OneDocument({ document: one }: { document: DocumentShape }) {
  const related = useLoad((signal) => call("related_documents", { query: { path: one.path, limit: 10 }, signal }), [one.path]);
  const links = useLoad((signal) => call("document_links", { query: { path: one.path }, signal }), [one.path]);
  return (
    <>
      <Card title={one.title || one.path} id="document" aside={<Button look="quiet" icon="cross" label={t("close")} onClick={() => go(withQuery({ path: null }))} />}>
        <p class="provenance">
          <code>{one.path}</code>
          {one.type && <span>{named("doctype", one.type)}</span>}
          {one.label && <span>{one.label}</span>}
          {one.size !== undefined && <span>{bytes(one.size)}</span>}
        </p>
        <dl class="facts">
          <div>
            <dt>{t("memory.confidence")}</dt>
            <dd>
              <Dots value={one.confidence_now ?? one.confidence} /> {percent(one.confidence_now ?? one.confidence)}
            </dd>
          </div>
          <div>
            <dt>{t("docs.rank")}</dt>
            <dd>{links.data ? percent(links.data.rank) : "–"}</dd>
          </div>
          <div>
            <dt>{t("docs.updated")}</dt>
            <dd>
              <When at={one.updated_at} />
            </dd>
          </div>
        </dl>
        <p>
          <a class="button small" href={`/memories?document=${encodeURIComponent(one.id)}`}>
            {t("docs.passages", { n: one.passages ?? 0 })}
          </a>
        </p>
      </Card>
      <Linked title={t("docs.links_to")} paths={links.data?.links_to ?? []} />
      <Linked title={t("docs.linked_from")} paths={links.data?.linked_from ?? []} />
      <Linked title={t("docs.related")} paths={(related.data?.related ?? []).map((found) => found.document.path)} />
    </>
  );
}

function Linked({ title, paths }: { title: string; paths: string[] }) {
  return (
    <Card title={title} id={title.replaceAll(/\W+/g, "-")}>
      {paths.length === 0 ? (
        <p class="dim">{t("nothing")}</p>
      ) : (
        <ul class="plain-list">
          {paths.map((path) => (
            <li key={path}>
              <a href={withQuery({ path })}>{path}</a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type Match = { score: number; relevance: number; document: DocumentShape; passage: { id: string; content: string } };

function SearchDocuments() {
  const [text, setText] = useState(place.value.query.get("q") ?? "");
  const asked = useRested(text.trim(), 180);
  const found = useLoad(
    async (signal) => (asked ? await call("search_documents", { query: { q: asked, limit: 8 }, signal }) : null),
    [asked],
    { live: false },
  );
  const matches = (found.data?.matches ?? []) as unknown as Match[];
  return (
    <Card title={t("docs.search")} id="docs-search">
      <input type="search" value={text} placeholder={t("docs.search_placeholder")} aria-label={t("docs.search_placeholder")} onInput={(event) => setText(event.currentTarget.value)} />
      {asked && !found.loading && matches.length === 0 && <p class="dim">{t("docs.no_match")}</p>}
      <ul class="plain-list spaced">
        {asked &&
          matches.map((one) => (
            <li key={one.passage.id}>
              <a href={withQuery({ path: one.document.path })}>{one.document.title || one.document.path}</a>
              <p class="clamped dim">{one.passage.content}</p>
            </li>
          ))}
      </ul>
    </Card>
  );
}

type Side = { path: string; line: number; name: string; text: string };
type Conflict = { level: string; score: number; reasons: string[]; claim: Side; known: Side };
type Broken = { path: string; line: number; target: string; problem: string };

function Checked() {
  const { data, problem, loading, reload } = useLoad((signal) => call("check_docs", { signal }), [], { live: false });
  const conflicts = (data?.conflicts ?? []) as unknown as Conflict[];
  const broken = (data?.broken ?? []) as unknown as Broken[];
  return (
    <Card title={t("docs.check")} id="docs-check">
      {problem ? (
        <Failure problem={problem} retry={reload} />
      ) : loading || !data ? (
        <Skeleton lines={3} />
      ) : conflicts.length + broken.length === 0 ? (
        <p class="all-good">
          <Icon name="check" /> {t("docs.check_fine")}
        </p>
      ) : (
        <ul class="plain-list spaced">
          {conflicts.map((one, at) => (
            <li key={`c${at}`}>
              <Badge tone="bad">{t("docs.contradiction")}</Badge>
              <SideText side={one.claim} />
              <SideText side={one.known} />
              <p class="dim">{one.reasons.join(" · ")}</p>
            </li>
          ))}
          {broken.map((one, at) => (
            <li key={`b${at}`}>
              <Badge tone="warn">{t("docs.broken")}</Badge>{" "}
              <a href={withQuery({ path: one.path })}>
                {one.path}:{one.line}
              </a>{" "}
              <code>{one.target}</code> <span class="dim">{one.problem}</span>
            </li>
          ))}
        </ul>
      )}
      {data?.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
    </Card>
  );
}

/** Documents with the very same text. */
function Duplicates({ documents }: { documents: DocumentShape[] }) {
  const firsts = new Map<string, DocumentShape>();
  const twins: [DocumentShape, DocumentShape][] = [];
  for (const one of documents) {
    const first = one.sha256 === undefined ? undefined : firsts.get(one.sha256);
    if (first) twins.push([one, first]);
    else if (one.sha256 !== undefined) firsts.set(one.sha256, one);
  }
  if (twins.length === 0) return null;
  return (
    <Card title={t("docs.duplicates")} id="docs-duplicates">
      <ul class="plain-list spaced">
        {twins.map(([one, first]) => (
          <li key={one.path}>
            <a href={withQuery({ path: one.path })}>{one.path}</a>
            <span class="dim">{t("docs.duplicate_of", { path: first.path })}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function SideText({ side }: { side: Side }) {
  return (
    <blockquote class="quoted">
      {side.text}
      <footer>
        <a href={withQuery({ path: side.path })}>
          {side.path}:{side.line}
        </a>
      </footer>
    </blockquote>
  );
}
